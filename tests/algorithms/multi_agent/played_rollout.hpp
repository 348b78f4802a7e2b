#pragma once
// Rollouts of several agents in which a test chooses the actions. Comes after
// actors/torch/torch.hpp.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "actors/environments/vector_env.hpp"
#include "algorithms/on_policy/rollout_writer.hpp"

namespace troupe::testing {

/// Returns the action of an agent in a step of an environment; step T is what it would do next.
using choice_of =
    std::function<std::int64_t(std::int64_t t, std::size_t environment, std::size_t agent)>;

struct played {
  network_shape shape;
  troupe::rollout rollout;
};

/// T steps of B worlds, with policy_rollout::acting.
template <class World>
played play(std::int64_t T, std::size_t B, const std::vector<std::string>& policies,
            const joint_shape_options& options, const choice_of& choose,
            reward_sharing sharing = {}) {
  vector_env<World> worlds(B);
  const auto spec = worlds.spec();
  const auto shape = joint_shape(spec, policies, options);
  const agent_rows rows(shape, spec.action_space);
  const auto agents = spec.agents.size();
  rollout_writer writer(rows, T, static_cast<std::int64_t>(B),
                        {.sharing = sharing, .joint_actions = true});
  policy_rows seen(rows, worlds.reset(1).obs);
  for (std::int64_t t = 0; t < T; ++t) {
    env_actions actions;
    for (std::size_t b = 0; b < B; ++b) {
      for (std::size_t i = 0; i < agents; ++i) actions.discrete.push_back(choose(t, b, i));
    }
    std::vector<act_reply> acted;
    for (std::size_t p = 0; p < rows.policies(); ++p) {
      const auto& members = rows.agents_of(p);
      acted.emplace_back();
      for (std::size_t b = 0; b < B; ++b) {
        for (const auto agent : members) acted.back().discrete.push_back(choose(t, b, agent));
      }
      acted.back().log_prob.assign(B * members.size(), -1.0f);
      acted.back().value.assign(B * members.size(), 0.0f);
    }
    const auto after = worlds.step(actions);
    const policy_rows next(rows, after.obs);
    writer.add(t, 0, seen, acted, after, next);
    seen = next;
  }
  auto made = writer.finish({&seen, 1});
  for (std::size_t p = 0; p < rows.policies(); ++p) {
    auto& of = made.policies[p];
    auto& next = of.acting;
    const auto& members = rows.agents_of(p);
    const auto place = [&](std::size_t column) {
      return std::pair(column / members.size(), members[column % members.size()]);
    };
    of.bootstrap_value.assign(static_cast<std::size_t>(of.columns), 0);
    of.final_value.assign(of.cuts.size(), 0);
    for (std::size_t i = 0; i < of.cuts.size(); ++i) {
      const auto [b, agent] = place(static_cast<std::size_t>(of.cuts[i].index));
      next.final_choice[i] = choose(next.final_step[i], b, agent);
    }
    for (std::size_t column = 0; column < next.bootstrap_choice.size(); ++column) {
      const auto [b, agent] = place(column);
      if (next.bootstrap_choice[column] >= 0) next.bootstrap_choice[column] = choose(T, b, agent);
    }
  }
  check(made, shape);
  return {shape, std::move(made)};
}

}  // namespace troupe::testing
