#include "actors/torch/torch.hpp"

#include "algorithms/multi_agent/on_policy/joint_on_policy.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "algorithms/on_policy/on_policy.hpp"
#include "algorithms/run/trainer_role.hpp"

namespace troupe {

namespace {

/// The number of last episodes whose mean is the return of an agent in progress.csv.
constexpr std::size_t episodes_of_mean = 100;

}  // namespace

joint_on_policy::joint_on_policy(training_run& in, joint_on_policy_setup setup)
    : environment_algorithm(in),
      setup_(std::move(setup)),
      agent_returns_(shape.agents.size(), loops::recent_mean(episodes_of_mean)) {
  warn_of_idle_policies(setup_.config.agents, shape);
}

// ---- one update, in the order in which it happens --------------------------------------------

task<std::int64_t> joint_on_policy::update(std::vector<joint_rollout> rollouts) {
  co_await record_episodes(rollouts);
  const auto push = [&] { return push_to<&policy::update>(trainer_, roles.policies); };
  const auto learned =
      co_await make_update<joint_trainer>(in, trainer_, batch_of(std::move(rollouts)), push);
  co_await record(learned);
  co_return in.progress.version;
}

/// Records the episodes that ended in these rollouts and counts the rollouts' steps.
task<> joint_on_policy::record_episodes(const std::vector<joint_rollout>& rollouts) {
  for (const auto& r : rollouts) {
    for (const auto& e : r.episodes) {
      const std::int64_t step = in.progress.steps + (e.step + 1) * r.environments;
      for (std::size_t i = 0; i < agent_returns_.size(); ++i) {
        agent_returns_[i].add(e.agent_returns.at(i));
      }
      co_await in.records.route<&recorder::episode_with_info>(
          step, score_of(shape, e.agent_returns, e.episode_return), e.length, e.info);
    }
    in.progress.steps += r.steps * r.environments;
  }
}

joint_batch joint_on_policy::batch_of(std::vector<joint_rollout> rollouts) {
  joint_batch batch;
  for (const auto& r : rollouts) {
    batch.stale = batch.stale || r.version != in.progress.version;
    in.metrics.batch_sampled(in.progress.version - r.version);
  }
  batch.rollouts = std::move(rollouts);
  return batch;
}

task<> joint_on_policy::record(const learner_report& learned) {
  in.metrics.updated(figures_of(learned.metrics));
  in.metrics.steps_skipped(learned.skipped_steps);
  const auto seen = co_await roles.replay.route<&replay_queue<joint_rollout>::counts>();
  in.metrics.replay_holds(seen.held, seen.bytes, seen.repeated, seen.stale);
  if (in.progress.version % setup_.config.log.every_updates != 0) co_return;
  progress_row row{in.progress.steps, columns_of(learned.metrics)};
  row.values["rollout/stale_dropped"] = static_cast<double>(seen.stale);
  row.values["time/iterations"] = static_cast<double>(in.progress.version);
  row.values.merge(agent_columns(shape, agent_returns_));
  show_agents(row.values);
  co_await in.record(std::move(row));
}

loop_sizes joint_on_policy::sizes() const {
  const auto& rollouts = setup_.config.rollout;
  return {.batch = static_cast<std::size_t>(rollouts.batch),
          .rollouts = static_cast<std::size_t>(rollouts.workers)};
}

run_settings settings_of(const multi_agent_on_policy_config& c, std::string resolved,
                         std::vector<idle_option> idle) {
  return settings_of(static_cast<const on_policy_config&>(c), std::move(resolved), std::move(idle));
}

algorithm algorithm_with(run_settings settings, std::function<void()> check,
                         joint_on_policy_setup setup) {
  return make_algorithm<joint_on_policy>(std::move(settings), std::move(check), std::move(setup));
}

}  // namespace troupe
