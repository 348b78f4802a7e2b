#include "actors/torch/torch.hpp"

#include "algorithms/on_policy/on_policy.hpp"

#include <algorithm>

#include "algorithms/learner/rank_trainer.hpp"
#include "algorithms/run/trainer_role.hpp"

namespace troupe {

namespace {

/// Counts the actions of the valid rows of a single agent.
action_histogram actions_of(const std::vector<rollout>& rollouts, const env_spec& spec,
                            const network_shape& shape) {
  action_histogram counted(spec, shape);
  const auto choices = static_cast<std::size_t>(shape.choice_count());
  const auto floats = static_cast<std::size_t>(shape.continuous_size);
  for (const auto& r : rollouts) {
    const auto& of = r.policies.front();
    for (std::size_t row = 0; row < of.valid.size(); ++row) {
      if (of.valid[row] == 0) continue;
      counted.add(std::span(of.discrete).subspan(row * choices, choices));
      counted.add(std::span(of.continuous).subspan(row * floats, floats));
    }
  }
  return counted;
}

/// The number of last episodes whose mean is the return of an agent in progress.csv.
constexpr std::size_t episodes_of_mean = 100;

}  // namespace

on_policy::on_policy(training_run& in, on_policy_setup setup)
    : environment_algorithm(in),
      setup_(std::move(setup)),
      agent_returns_(shape.agents.size(), loops::recent_mean(episodes_of_mean)) {}

// ---- one update, in the order in which it happens --------------------------------------------

task<std::int64_t> on_policy::update(std::vector<rollout> rollouts) {
  co_await record_episodes(rollouts);
  if (in.callbacks.on_update && shape.policies.empty())
    in.control.saw(actions_of(rollouts, spec, shape));
  const auto batch = batch_of(std::move(rollouts));
  const auto world = static_cast<std::size_t>(setup_.learner.replicas);
  const auto train = [&](double progress_remaining, std::optional<double> chosen_lr) {
    return world > 1 ? train_ranks(trainer_, batch, progress_remaining, chosen_lr, world)
                     : trainer_.try_route<&on_policy_trainer::train_step>(batch, progress_remaining,
                                                                          chosen_lr);
  };
  const auto give = [this] { return push(); };
  const auto learned = co_await make_update<learner_report>(in, train, give);
  co_await record(learned);
  co_return in.progress.version;
}

/// Gives the new weights to all policies and returns their version.
task<std::int64_t> on_policy::push() {
  if (roles.policies.size() > 1) {
    co_return co_await push_to<&policy::update>(trainer_, roles.policies);
  }
  co_return co_await trainer_.route<&on_policy_trainer::push_weights>(roles.policies.front());
}

/// Records the episodes that ended in these rollouts and counts the rollouts' steps.
task<> on_policy::record_episodes(std::vector<rollout>& rollouts) {
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

training_rollouts on_policy::batch_of(std::vector<rollout> rollouts) {
  training_rollouts batch;
  for (const auto& r : rollouts) {
    batch.stale = batch.stale || r.version != in.progress.version;
    in.metrics.batch_sampled(in.progress.version - r.version);
  }
  if (roles.normalizer) {
    std::vector<seen_statistics> seen;
    for (auto& r : rollouts) seen.push_back(std::move(r.seen));
    roles.normalizer->take_in(std::move(seen));
    batch.obs_statistics = roles.normalizer->obs();
  }
  batch.rollouts = std::move(rollouts);
  return batch;
}

task<> on_policy::record(const learner_report& learned) {
  in.metrics.updated(figures_of(learned.metrics));
  in.metrics.steps_skipped(learned.skipped_steps);
  const auto seen = co_await roles.replay.route<&replay_queue<rollout>::counts>();
  in.metrics.replay_holds(seen.held, seen.bytes, seen.repeated, seen.stale);
  if (in.progress.version % setup_.config.log.every_updates != 0) co_return;
  progress_row row{in.progress.steps, columns_of(learned.metrics)};
  row.values["rollout/stale_dropped"] = static_cast<double>(seen.stale);
  row.values["time/iterations"] = static_cast<double>(in.progress.version);
  row.values.merge(agent_columns(shape, agent_returns_));
  show_agents(row.values);
  co_await in.record(std::move(row));
}

loop_sizes on_policy::sizes() const {
  const auto& rollouts = setup_.config.rollout;
  return {.batch = static_cast<std::size_t>(rollouts.batch),
          .rollouts = static_cast<std::size_t>(rollouts.workers)};
}

algorithm algorithm_with(run_settings settings, std::function<void()> check,
                         on_policy_setup setup) {
  return make_algorithm<on_policy>(std::move(settings), std::move(check), std::move(setup));
}

}  // namespace troupe
