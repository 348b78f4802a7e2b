#include "algorithms/off_policy/q_learning/q_rollout.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace troupe {
namespace {

std::vector<std::int64_t> number(const discrete_states& states, const std::vector<float>& rows,
                                 std::int64_t environments) {
  const auto width = rows.size() / static_cast<std::size_t>(environments);
  std::vector<std::int64_t> numbers;
  for (std::size_t at = 0; at < rows.size(); at += width) {
    numbers.push_back(states.index(std::span(rows).subspan(at, width)));
  }
  return numbers;
}

void append(q_rollout& made, const discrete_states& states, const std::vector<std::int64_t>& before,
            const tabular_actions& acted, const env_step& step, std::vector<std::int64_t> after) {
  // If an episode ended, `after` has the next episode's first state instead of its last.
  for (const auto& ended : step.finished) {
    after[ended.index] = states.index(ended.final_obs);
    made.returns.push_back(ended.episode_return);
  }
  std::vector<bool> failed(before.size(), false);
  // The list also has failures of resets, which do not concern the step.
  for (const auto& failure : step.failures) {
    if (!failure.at_reset) failed[failure.index] = true;
  }
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (failed[i]) continue;
    made.transitions.push_back(
        {before[i], acted.actions[i], step.reward[i], step.terminated[i] != 0, after[i]});
  }
}

}  // namespace

task<q_rollout> generate_q_rollout(q_roles roles) {
  const auto environment = co_await roles.environments.session();
  const auto seen = co_await environment.route<&hosted_environment::observe>();
  auto now = number(*roles.states, seen.rows, seen.environments);
  q_rollout made;
  for (std::int64_t t = 0; t < roles.n_steps; ++t) {
    const auto acted = co_await roles.policies.route<&tabular_policy::act>(now);
    env_actions actions{.discrete = acted.actions};
    const auto step = co_await environment.route<&hosted_environment::step>(std::move(actions));
    auto after = number(*roles.states, step.obs, seen.environments);
    append(made, *roles.states, now, acted, step, after);
    made.version = t == 0 ? acted.version : std::min(made.version, acted.version);
    now = std::move(after);
  }
  co_return made;
}

}  // namespace troupe
