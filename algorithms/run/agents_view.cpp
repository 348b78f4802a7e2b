#include "algorithms/run/agents_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "actors/evaluator/joint_actions.hpp"
#include "actors/recorder/score_text.hpp"

namespace troupe {
namespace {

std::string rollout_column(const std::string& name) { return "rollout/" + name + "/ep_rew_mean"; }
std::string evaluation_column(const std::string& name) { return "eval/" + name + "/mean_reward"; }

/// The policies that play several agents and not all, and these agents.
std::map<std::string, std::vector<std::size_t>> shared_policies(const network_shape& shape) {
  std::map<std::string, std::vector<std::size_t>> members;
  for (std::size_t i = 0; i < shape.agents.size(); ++i) {
    members[shape.policies[static_cast<std::size_t>(shape.agents[i].policy)].name].push_back(i);
  }
  std::erase_if(members, [&shape](const auto& one) {
    return one.second.size() < 2 || one.second.size() == shape.agents.size();
  });
  // A policy may have the name of an agent, whose column then is the agent's.
  for (const auto& agent : shape.agents) members.erase(agent.name);
  return members;
}

/// Returns the columns of agents whose means are known, and of policies all of whose agents' are.
std::map<std::string, double> columns_of(const network_shape& shape,
                                         std::span<const std::optional<double>> means,
                                         std::string (*column)(const std::string&)) {
  std::map<std::string, double> columns;
  if (shape.policies.empty()) return columns;
  for (std::size_t i = 0; i < means.size(); ++i) {
    if (means[i]) columns[column(shape.agents[i].name)] = *means[i];
  }
  for (const auto& [policy, members] : shared_policies(shape)) {
    const auto known = [&](std::size_t i) { return means[i].has_value(); };
    if (!std::ranges::all_of(members, known)) continue;
    double sum = 0;
    for (const auto i : members) sum += *means[i];
    columns[column(policy)] = sum / static_cast<double>(members.size());
  }
  return columns;
}

nlohmann::ordered_json table(const std::string& heading, const text_table& content) {
  return {{"table", {{"heading", heading}, {"columns", content.columns}, {"rows", content.rows}}}};
}

}  // namespace

std::map<std::string, double> agent_columns(const network_shape& shape,
                                            std::span<const loops::recent_mean> returns) {
  std::vector<std::optional<double>> means;
  for (const auto& one : returns) {
    means.push_back(one.empty() ? std::nullopt : std::optional(one.mean()));
  }
  return columns_of(shape, means, rollout_column);
}

std::map<std::string, double> agent_columns(const env_spec& spec, const network_shape& shape,
                                            const evaluation& seen) {
  const std::vector<std::optional<double>> means(seen.agent_means.begin(), seen.agent_means.end());
  auto columns = columns_of(shape, means, evaluation_column);
  for (std::size_t i = 0; i < seen.joint_actions.size(); ++i) {
    columns["eval/joint_actions/" + joint_action_name(spec, i)] = seen.joint_actions[i];
  }
  return columns;
}

agents_view::agents_view(env_spec spec, const network_shape& shape) : spec_(std::move(spec)) {
  if (shape.policies.empty()) return;
  for (const auto& agent : shape.agents) {
    names_.push_back({agent.name, shape.policies[static_cast<std::size_t>(agent.policy)].name});
  }
  for (const auto& [policy, members] : shared_policies(shape)) {
    names_.push_back({policy, fmt::format("plays {} agents", members.size())});
  }
}

void agents_view::note(const std::map<std::string, double>& values) {
  for (const auto& one : names_) {
    for (const auto& column : {rollout_column(one.is), evaluation_column(one.is)}) {
      const auto found = values.find(column);
      if (found != values.end()) values_[column] = found->second;
    }
  }
}

std::map<std::string, double> agents_view::returns() const {
  std::map<std::string, double> returns;
  for (const auto& one : names_) {
    const auto found = values_.find(rollout_column(one.is));
    if (found != values_.end()) returns[one.is] = found->second;
  }
  return returns;
}

std::map<std::string, std::string> agents_view::boards() const {
  std::map<std::string, std::string> boards;
  if (!shows()) return boards;
  const auto text = [this](const std::string& column) {
    const auto found = values_.find(column);
    return found == values_.end() ? std::string() : score_text(found->second);
  };
  text_table returns{{"agent", "policy", "mean return", "last evaluation"}, {}};
  for (const auto& one : names_) {
    returns.rows.push_back(
        {one.is, one.beside, text(rollout_column(one.is)), text(evaluation_column(one.is))});
  }
  boards["agents"] = table("Agents", returns).dump();
  if (!joint_actions_.empty()) {
    boards["joint_actions"] = table("Joint actions of the last evaluation, as shares of its steps",
                                    table_of(spec_, joint_actions_))
                                  .dump();
  }
  return boards;
}

}  // namespace troupe
