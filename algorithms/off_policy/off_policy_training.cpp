#include "actors/torch.hpp"

#include <algorithm>

#include "algorithms/loops/loops.hpp"
#include "algorithms/loops/warm_up.hpp"
#include "algorithms/off_policy/off_policy_cast.hpp"
#include "algorithms/run/training_loop.hpp"

namespace troupe {

namespace {

/// Tells the recorder of the episodes that ended in these collections, which come after
/// `p.done.steps`.
task<> record_episodes(off_policy_cast& p, const std::vector<collected_transitions>& made) {
  for (const auto& one : made) {
    for (const auto& e : one.episodes) {
      co_await p.records.route<&recorder::episode>(p.done.steps + e.step, e.episode_return,
                                                   e.length);
      ++p.episodes_to_log;
    }
    p.done.steps += one.steps;
  }
}

/// The gauges of learning have the numbers of the newest row. A loss in all has DQN alone; the
/// actors' of the others is no measure of how well they learn.
update_figures figures_of(const named_values& learned) {
  const auto named = [&](const char* name) -> std::optional<double> {
    const auto found = std::ranges::find(learned, name, &named_values::value_type::first);
    return found == learned.end() ? std::nullopt : std::optional(found->second);
  };
  const auto critics = named("train/critic_loss");
  return {.loss = critics ? critics : named("train/loss"),
          .kl = {},
          .entropy = named("train/entropy"),
          .grad_norm = named("train/grad_norm"),
          .clip_ratio = {},
          .lr = named("train/learning_rate")};
}

/// A row of progress.csv, which is due each few episodes, as in Stable-Baselines3. There the
/// numbers of gradient steps are means over those of the last update, here over all since the row
/// before.
task<> record_metrics(off_policy_cast& p, const named_values& learned) {
  p.episodes_to_log = 0;
  progress_row row{p.done.steps, {learned.begin(), learned.end()}};
  if (!p.shape.is_continuous()) {
    row.values["rollout/exploration_rate"] =
        p.algorithm.explore.epsilon.at(p.done.steps, p.algorithm.explore.total_steps);
  }
  p.metrics.updated(figures_of(learned));
  co_await p.records.route<&recorder::record>(std::move(row));
  const auto seen = co_await p.roles.replay.route<&transition_replay::counts>();
  p.metrics.replay_holds(seen.held, seen.bytes, seen.repeated, seen.stale);
}

/// One update: the trainer takes its gradient steps, and every collector has the new weights.
task<std::int64_t> train(off_policy_cast& p, std::vector<collected_transitions> made) {
  const auto began = std::chrono::steady_clock::now();
  const auto environments = p.roles.environments;
  off_policy_update due{.version = p.done.version,
                        .gradient_steps = p.algorithm.config.gradient_steps(),
                        .steps_before = p.done.steps / environments};
  p.metrics.batch_sampled(p.done.version - made.back().version);
  co_await record_episodes(p, made);
  due.steps_after = p.done.steps / environments;
  due.progress_remaining = progress_remaining(p);
  due.log = p.episodes_to_log >= p.algorithm.config.log.episodes;

  const auto learned =
      co_await p.trainer.route<&off_policy_trainer::train>(due, p.roles.collectors);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  const auto rows = due.gradient_steps * static_cast<std::int64_t>(p.algorithm.batch_size);
  p.done.version = learned.version;
  p.metrics.trained(rows, took.count());
  p.metrics.steps_skipped(learned.skipped);
  p.metrics.policy_version(learned.version);
  if (due.log) co_await record_metrics(p, learned.metrics);
  co_return p.done.version;
}

}  // namespace

task<> off_policy_cast::train_until(std::int64_t version, bool drain) {
  auto& p = *this;
  const bool async = settings.mode == training_mode::async;
  const auto workers = static_cast<std::size_t>(async ? algorithm.config.collection.workers : 1);
  if (done.steps == 0 && algorithm.config.warm_up() > 0) {
    loops::warm_up_options filling{
        .episodes = algorithm.config.warm_up(), .rollouts = workers, .stop_asked = stop_asked};
    const auto warmed = co_await loops::warm_up(roles, generate_transitions, std::move(filling));
    add_report(done, warmed);
  }
  const auto before = done;
  loops::hooks<collected_transitions> hooks{
      .train = [&p](std::vector<collected_transitions> made) { return train(p, std::move(made)); },
      .called = [&p, &before](loops::progress now) { return after_update(p, before, now); },
      .steps = [](const collected_transitions& made) { return made.steps; },
      .metrics = metrics};
  co_await run_loop(
      p, roles, generate_transitions, std::move(hooks),
      {.updates = version - done.version, .batch = 1, .rollouts = workers, .drain = drain});
}

}  // namespace troupe
