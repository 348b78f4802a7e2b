#include "actors/torch/torch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "actors/random/derived_seed.hpp"
#include "algorithms/on_policy/on_policy.hpp"
#include "algorithms/run/server_sessions.hpp"

namespace troupe {

namespace {

/// The episodes that the evaluation at the end takes from rollouts. It takes equally many of each
/// environment, so that short episodes don't weigh more.
struct final_returns {
  final_returns(std::size_t wanted, std::size_t environments, std::size_t tasks)
      : wanted(wanted), tasks(tasks) {
    for (std::size_t i = 0; i < environments; ++i) {
      left.push_back((wanted + i) / environments);
    }
  }

  /// Takes the episodes of a rollout. Returns true once there are enough, or once a replica was
  /// lost. Throws evaluation_error if no episode ends.
  bool add(const rollout& r) {
    lost = lost || r.losses > 0;
    if (lost) return true;
    // If an environment has failed, the steps of all environments count towards the patience.
    waited += r.failure.empty() ? r.steps : r.steps * r.environments;
    if (waited > evaluator::patience) {
      throw evaluation_error("the evaluation at the end was given up, no episode has ended in " +
                             std::to_string(waited) + " steps" +
                             (r.failure.empty() ? "" : "; each was dropped: " + r.failure));
    }
    for (const auto& e : r.episodes) {
      auto& owed = left[static_cast<std::size_t>(e.environment)];
      if (owed == 0) continue;
      --owed;
      // These environments are not told turns, so environment i plays task i modulo the tasks.
      const auto task = static_cast<std::size_t>(e.environment) % std::max<std::size_t>(tasks, 1);
      played.push_back({e.episode_return, static_cast<double>(e.length), task});
      waited = 0;
    }
    return played.size() == wanted;
  }

  std::size_t wanted, tasks;
  std::vector<std::size_t> left;  ///< How many episodes of each environment are still needed.
  std::vector<evaluated_episode> played;
  std::int64_t waited = 0;  ///< Steps since an episode that counts ended.
  bool lost = false;  ///< A replica was lost, so long episodes would be missing from the mean.
};

}  // namespace

task<evaluation> on_policy::evaluate_at_the_end(weights of) {
  if (!shape.policies.empty()) {
    auto by_evaluator = co_await evaluate_finally(std::move(of));
    co_return by_evaluator;
  }
  const auto& c = setup_.config;
  const auto wanted = episodes_of_all_tasks(c.evaluation.final_episodes, spec.tasks.size());
  const auto environments = evaluation_size(c.env, wanted, spec.tasks.size());
  const auto seed = derived_seed(c.seed, "final evaluation");
  auto playing = roles;
  playing.deterministic = true;
  playing.groups = 1;
  playing.normalizer = nullptr;  // the network normalises with the statistics in the weights
  playing.n_steps = 250;         // few steps are wasted after the last episode has ended
  serve_options hosting{.name = "evaluation",
                        .placement = place_of_evaluation(c.env),
                        .max_call_time = max_call_time_of(c.env)};
  playing.environments = co_await in.serve<hosted_environment>(
      std::move(hosting), environments_of(c.env, environments), seed);
  final_returns seen(static_cast<std::size_t>(wanted), static_cast<std::size_t>(environments),
                     spec.tasks.size());
  std::function<bool(const rollout&)> enough = [&](const rollout& r) {
    in.require_no_stop();
    return seen.add(r);
  };
  co_await loops::evaluate(playing, generate_rollout, enough);
  if (!seen.lost) co_return summarise(seen.played, in.progress.version, spec.tasks);
  auto whole = co_await evaluate(std::move(of), seen.wanted, seed);
  co_return whole;
}

}  // namespace troupe
