#include "actors/torch/torch.hpp"

#include "algorithms/off_policy/off_policy.hpp"

#include <algorithm>

#include "algorithms/loops/warm_up.hpp"

namespace troupe {

namespace {

/// The number of last episodes whose mean is the return of an agent in progress.csv.
constexpr std::size_t episodes_of_mean = 100;

}  // namespace

off_policy::off_policy(training_run& in, off_policy_algorithm algorithm)
    : environment_algorithm(in),
      algorithm_(std::move(algorithm)),
      agent_returns_(shape.agents.size(), loops::recent_mean(episodes_of_mean)) {}

task<bool> off_policy::begin() {
  const auto collections = algorithm_.config.warm_up();
  if (in.progress.steps > 0 || collections == 0) co_return true;
  loops::warm_up_options filling{
      .episodes = collections, .rollouts = sizes().rollouts, .stop_asked = in.stop_asked};
  const auto warmed = co_await loops::warm_up(roles, generate_transitions, std::move(filling));
  in.add_report(warmed);
  co_return true;
}

// ---- one update, in the order in which it happens --------------------------------------------

/// Lets the trainer take the gradient steps of one update and send the new weights to the
/// collectors.
task<std::int64_t> off_policy::update(std::vector<collected_transitions> made) {
  const auto began = std::chrono::steady_clock::now();
  off_policy_update due{.version = in.progress.version,
                        .gradient_steps = algorithm_.config.gradient_steps(),
                        .steps_before = in.progress.steps / roles.environments};
  in.metrics.batch_sampled(in.progress.version - made.back().version);
  co_await record_episodes(made);
  due.steps_after = in.progress.steps / roles.environments;
  due.progress_remaining = in.progress_remaining();
  due.chosen_lr = in.control.chosen_learning_rate();
  due.log = episodes_to_log_ >= algorithm_.config.log.episodes;

  const auto learned = co_await trainer_.route<&off_policy_trainer::train>(due, roles.collectors);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  const auto rows = due.gradient_steps * static_cast<std::int64_t>(algorithm_.batch_size);
  in.progress.version = learned.version;
  in.control.updated(learned.learning_rate);
  in.metrics.trained(rows, took.count());
  in.metrics.steps_skipped(learned.skipped);
  in.metrics.policy_version(learned.version);
  if (due.log) co_await record(learned.metrics);
  co_return in.progress.version;
}

/// Records the episodes that ended in these collections and counts the collections' steps.
task<> off_policy::record_episodes(std::vector<collected_transitions>& made) {
  for (const auto& one : made) {
    for (const auto& e : one.episodes) {
      co_await in.records.route<&recorder::episode_with_info>(
          in.progress.steps + e.step, score_of(shape, e.agent_returns, e.episode_return), e.length,
          e.info);
      ++episodes_to_log_;
      for (std::size_t i = 0; i < agent_returns_.size(); ++i) {
        agent_returns_[i].add(e.agent_returns.at(i));
      }
    }
    in.progress.steps += one.steps;
  }
}

/// Writes a row of progress.csv, which is due every few episodes, as in Stable-Baselines3. The
/// metrics of gradient steps are means over all steps since the row before; Stable-Baselines3 has
/// means over the last update.
task<> off_policy::record(const std::vector<named_number>& learned) {
  episodes_to_log_ = 0;
  progress_row row{in.progress.steps, columns_of(learned)};
  if (!shape.is_continuous()) {
    const auto& explore = algorithm_.explore;
    row.values["rollout/exploration_rate"] =
        explore.epsilon.at(in.progress.steps, explore.total_steps);
  }
  row.values.merge(agent_columns(shape, agent_returns_));
  show_agents(row.values);
  in.metrics.updated(figures_of(learned));
  co_await in.record(std::move(row));
  const auto seen = co_await roles.replay.route<&transition_replay::counts>();
  in.metrics.replay_holds(seen.held, seen.bytes, seen.repeated, seen.stale);
}

loop_sizes off_policy::sizes() const {
  const bool async = in.settings.mode == training_mode::async;
  const int workers = async ? algorithm_.config.collection.workers : 1;
  return {.batch = 1, .rollouts = static_cast<std::size_t>(workers)};
}

}  // namespace troupe
