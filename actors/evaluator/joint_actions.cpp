#include "actors/evaluator/joint_actions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace troupe {
namespace {

/// Returns the choices of each agent; empty if an agent's action is anything else.
std::vector<spaces::discrete> choices_of(const env_spec& spec) {
  std::vector<spaces::discrete> choices;
  for (const auto& agent : spec.agents) {
    const auto* discrete = agent.action_space.get_if<spaces::discrete>();
    if (!discrete) return {};
    choices.push_back(*discrete);
  }
  return choices;
}

std::string percentage(double share) { return fmt::format("{:.1f} %", 100 * share); }

}  // namespace

joint_actions::joint_actions(const env_spec& spec) {
  auto choices = choices_of(spec);
  if (choices.size() < 2) return;
  std::size_t count = 1;
  for (const auto& one : choices) {
    if (static_cast<std::size_t>(one.n) > count_max / count) return;
    count *= static_cast<std::size_t>(one.n);
  }
  layout_ = agent_layout(spec);
  choices_ = std::move(choices);
  counts_.resize(count);
}

void joint_actions::add(std::span<const float> before, std::span<const std::int64_t> choices) {
  std::size_t index = 0;
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    if (!layout_.acts(before, i)) return;
    const auto& of = choices_[i];
    index =
        index * static_cast<std::size_t>(of.n) + static_cast<std::size_t>(choices[i] - of.start);
  }
  ++counts_.at(index);
}

std::vector<double> joint_actions::shares() const {
  const auto steps = std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0});
  if (steps == 0) return {};
  std::vector<double> shares;
  for (const auto count : counts_) {
    shares.push_back(static_cast<double>(count) / static_cast<double>(steps));
  }
  return shares;
}

std::string joint_action_name(const env_spec& spec, std::size_t index) {
  const auto choices = choices_of(spec);
  std::string name;
  for (auto i = choices.size(); i-- > 0;) {
    const auto n = static_cast<std::size_t>(choices[i].n);
    const auto choice = choices[i].start + static_cast<std::int64_t>(index % n);
    name = fmt::format("{}{}{}", choice, name.empty() ? "" : "-", name);
    index /= n;
  }
  return name;
}

text_table table_of(const env_spec& spec, std::span<const double> shares) {
  const auto choices = choices_of(spec);
  text_table table;
  if (choices.size() == 2) {
    table.columns = {spec.agents[0].name + " / " + spec.agents[1].name};
    const auto width = static_cast<std::size_t>(choices[1].n);
    for (std::size_t k = 0; k < width; ++k) {
      table.columns.push_back(std::to_string(choices[1].start + static_cast<std::int64_t>(k)));
    }
    for (std::size_t i = 0; i < shares.size(); ++i) {
      if (i % width == 0) {
        table.rows.push_back(
            {std::to_string(choices[0].start + static_cast<std::int64_t>(i / width))});
      }
      table.rows.back().push_back(percentage(shares[i]));
    }
    return table;
  }
  for (const auto& agent : spec.agents) {
    table.columns = {table.columns.empty() ? agent.name : table.columns[0] + "-" + agent.name};
  }
  table.columns.push_back("steps");
  std::vector<std::size_t> order(shares.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return shares[i]; });
  for (const auto i : order) {
    if (shares[i] > 0) table.rows.push_back({joint_action_name(spec, i), percentage(shares[i])});
  }
  return table;
}

}  // namespace troupe
