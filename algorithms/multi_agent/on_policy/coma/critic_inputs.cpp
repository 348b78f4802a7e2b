#include "algorithms/multi_agent/on_policy/coma/critic_inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <stdexcept>
#include <utility>

namespace troupe {

namespace {

constexpr std::int64_t none = -1;  // the action of an agent that does not act

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

}  // namespace

/// The actions of all N agents side by side, [N] for each step of each environment of a rollout.
class critic_inputs::action_table {
 public:
  action_table(const rollout& r, const std::vector<std::vector<std::size_t>>& members,
               std::size_t agents)
      : agents_(agents), steps_(at(r.steps) + 1), acted_(at(r.environments) * steps_ * agents) {
    std::ranges::fill(acted_, none);
    for (const auto& e : r.episodes) ended_.emplace(e.environment, e.step + 1);
    for (std::size_t policy = 0; policy < members.size(); ++policy) {
      add_steps(r, policy, members[policy]);
    }
    // Who goes on after a truncation is known only when all steps are.
    for (std::size_t policy = 0; policy < members.size(); ++policy) {
      add_finals(r, policy, members[policy]);
    }
  }

  /// The actions in step t; t = T is the step that would follow the rollout.
  const std::int64_t* in_step(std::size_t environment, std::int64_t t) const {
    return acted_.data() + place(environment, t);
  }
  /// The actions in a state that an agent, cut off, saw last. Step t would have followed it.
  const std::int64_t* in_final(std::size_t environment, std::int64_t t) const {
    return finals_.at({environment, t}).data();
  }

 private:
  std::size_t place(std::size_t environment, std::int64_t t) const {
    return (environment * steps_ + at(t)) * agents_;
  }

  void add_steps(const rollout& r, std::size_t policy, const std::vector<std::size_t>& members) {
    const auto& of = r.policies[policy];
    const auto& when = of.acting;
    const auto columns = at(of.columns);
    const auto* after_end = of.after_end.empty() ? nullptr : of.after_end.data();
    for (std::size_t row = 0; row < when.step.size(); ++row) {
      if (when.step[row] < 0 || (after_end && after_end[row])) continue;
      const auto column = row % columns;
      acted_[place(column / members.size(), when.step[row]) + members[column % members.size()]] =
          of.discrete[row];
    }
    for (std::size_t column = 0; column < columns; ++column) {
      acted_[place(column / members.size(), r.steps) + members[column % members.size()]] =
          when.bootstrap_choice[column];
    }
  }

  void add_finals(const rollout& r, std::size_t policy, const std::vector<std::size_t>& members) {
    const auto& cuts = r.policies[policy].cuts;
    const auto& when = r.policies[policy].acting;
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      const auto environment = at(cuts[i].index) / members.size();
      const std::pair state(environment, when.final_step[i]);
      auto [known, is_new] = finals_.try_emplace(state);
      if (is_new) {
        // If the episode ended, the next step belongs to another one.
        const bool ended =
            ended_.contains({static_cast<std::int64_t>(environment), when.final_step[i]});
        const auto* others = in_step(environment, when.final_step[i]);
        known->second.assign(agents_, none);
        if (!ended) std::copy_n(others, agents_, known->second.begin());
      }
      if (!when.final_acts[i]) continue;
      known->second[members[at(cuts[i].index) % members.size()]] = when.final_choice[i];
    }
  }

  std::size_t agents_, steps_;                             // N and T + 1
  std::vector<std::int64_t> acted_;                        // [B, T + 1, N]
  std::set<std::pair<std::int64_t, std::int64_t>> ended_;  // environment, step after the last one
  std::map<std::pair<std::size_t, std::int64_t>, std::vector<std::int64_t>> finals_;  // [N] each
};

critic_inputs::critic_inputs(const network_shape& shape) : members_(shape.policies.size()) {
  for (const auto& policy : shape.policies) obs_sizes_.push_back(at(policy.obs_size));
  for (std::size_t i = 0; i < shape.agents.size(); ++i) {
    const auto policy = at(shape.agents[i].policy);
    const auto own = shape_of(shape.policies.at(policy));
    if (own.discrete_actions < 1) {
      throw std::invalid_argument(
          fmt::format("coma: expected agents with one Discrete action, got \"{}\" with {}",
                      shape.agents[i].name, to_string(own)));
    }
    members_[policy].push_back(i);
    first_.push_back(all_actions_);
    counts_.push_back(at(own.discrete_actions));
    all_actions_ += counts_.back();
  }
  for (std::size_t policy = 0; policy < members_.size(); ++policy) {
    auto& parts = parts_.emplace_back();
    const auto& one = shape.agents[members_[policy].front()];
    if (one.obs_size > 0) parts.push_back({0, one.obs_size});
    const auto& of = shape.policies[policy];
    const auto central = central_parts(shape, policy, of.obs_size - of.critic_only);
    parts.insert(parts.end(), central.begin(), central.end());
  }
}

int critic_inputs::width(std::size_t policy) const {
  return static_cast<int>(obs_sizes_[policy] + all_actions_);
}

void critic_inputs::write(std::size_t policy, std::size_t agent, const float* row,
                          const std::int64_t* acted, float* to) const {
  to = std::copy_n(row, obs_sizes_[policy], to);
  std::fill_n(to, all_actions_, 0.0f);
  for (std::size_t other = 0; other < counts_.size(); ++other) {
    if (acted[other] < 0) continue;
    if (at(acted[other]) >= counts_[other]) {
      throw std::invalid_argument(fmt::format("coma: action {} is no choice, expected 0 to {}",
                                              acted[other], counts_[other] - 1));
    }
    if (other != agent) to[first_[other] + at(acted[other])] = 1.0f;
  }
}

critic_rows critic_inputs::rows_of(const std::vector<rollout>& rollouts, std::size_t policy) const {
  const auto inputs = at(width(policy));
  const auto obs_size = obs_sizes_[policy];
  const auto& members = members_[policy];
  std::size_t columns = 0, cuts = 0;
  for (const auto& r : rollouts) {
    const auto lacks = [](const policy_rollout& of) { return of.acting.step.empty(); };
    if (std::ranges::any_of(r.policies, lacks)) {
      throw std::invalid_argument(
          "coma: expected rollouts with policy_rollout::acting, got one without");
    }
    columns += at(r.policies[policy].columns);
    cuts += r.policies[policy].cuts.size();
  }
  critic_rows made;
  made.steps.resize(at(rollouts.front().steps) * columns * inputs);
  made.finals.resize(cuts * inputs);
  made.bootstrap.resize(columns * inputs);

  std::size_t first = 0, cut = 0;  // the rollout's first column and its first cut
  for (const auto& r : rollouts) {
    const action_table table(r, members_, counts_.size());
    const auto& of = r.policies[policy];
    const auto& when = r.policies[policy].acting;
    const auto own = at(of.columns);
    const auto write_row = [&](std::size_t column, const float* row, const std::int64_t* acted,
                               float* to) {
      write(policy, members[column % members.size()], row, acted, to);
    };
    for (std::size_t row = 0; row < when.step.size(); ++row) {
      if (when.step[row] < 0) continue;  // nothing is trained on it, and zeros are finite
      const auto column = row % own;
      write_row(column, of.obs.data() + row * obs_size,
                table.in_step(column / members.size(), when.step[row]),
                made.steps.data() + ((row / own) * columns + first + column) * inputs);
    }
    for (std::size_t i = 0; i < of.cuts.size(); ++i, ++cut) {
      const auto column = at(of.cuts[i].index);
      write_row(column, of.final_obs.data() + i * obs_size,
                table.in_final(column / members.size(), when.final_step[i]),
                made.finals.data() + cut * inputs);
      made.final_choice.push_back(when.final_choice[i]);
    }
    for (std::size_t column = 0; column < own; ++column) {
      write_row(column, of.bootstrap_obs.data() + column * obs_size,
                table.in_step(column / members.size(), r.steps),
                made.bootstrap.data() + (first + column) * inputs);
      made.bootstrap_choice.push_back(std::max<std::int64_t>(when.bootstrap_choice[column], 0));
    }
    first += own;
  }
  return made;
}

}  // namespace troupe
