#include "actors/torch/torch.hpp"

#include <algorithm>

#include "algorithms/learner/rank_trainer.hpp"
#include "algorithms/on_policy/on_policy.hpp"
#include "algorithms/run/initial_model.hpp"
#include "algorithms/run/replay_endpoints.hpp"
#include "algorithms/run/run_state.hpp"
#include "algorithms/run/trainer_role.hpp"

namespace troupe {

namespace {

/// Throws state_error if a rollout in the replay does not fit the network.
void require_fit(const replay_state<rollout>& held, const network_shape& shape) {
  try {
    for (const auto& item : held.items) check(item, shape);
  } catch (const std::invalid_argument& e) {
    throw state_error(std::string("checkpoint: replay.bin: ") + e.what());
  }
}

}  // namespace

placement place_of_trainer(const on_policy_config& config, int ranks) {
  if (config.placement.trainer != "auto") return placement_of(config.placement.trainer);
  // Ranks wait for one another, which would block a thread of the pool.
  const bool blocks = config.mode == training_mode::async || ranks > 1;
  return blocks ? placement::thread : placement::shared;
}

replay_options kept_rollouts(const on_policy_config& c) {
  // In sync mode the bound is 1: a policy that is restarted while weights are pushed may come back
  // with the previous ones. Its rollout is used with a correction for staleness; if it were
  // dropped, the update would lack a rollout.
  const bool async = c.mode == training_mode::async;
  replay_options kept{.batch = c.rollout.batch,
                      .max_staleness = async ? c.rollout.max_staleness : 1};
  kept.capacity = std::max(kept.capacity, static_cast<std::size_t>(c.rollout.batch));
  return kept;
}

task<> on_policy::serve(const checkpoint* from) {
  co_await serve_trainer(from);
  co_await serve_policies(from);
  co_await serve_environments(from);
  co_await in.practise_on(roles.environments, environment_replicas());
  co_await serve_replay(from);
  co_await serve_evaluator();
}

task<> on_policy::serve_trainer(const checkpoint* from) {
  const auto where = place_of_trainer(setup_.config, setup_.learner.replicas);
  auto make = setup_.maker(shape);
  if (setup_.learner.replicas == 1) {
    trainer_ = co_await troupe::serve_trainer<on_policy_trainer>(in, where, std::move(make), from);
    co_return;
  }
  co_await put_initial_model(in, from);
  auto learning = options_of_trainer<on_policy_trainer>(where);
  learning.replicas = static_cast<std::size_t>(setup_.learner.replicas);
  const std::chrono::duration<double, std::milli> timeout(setup_.learner.rank_timeout * 1000.0);
  gloo_rendezvous group{
      .world = learning.replicas,
      .file = meeting_.emplace().file(),
      .timeout = std::chrono::milliseconds(static_cast<std::int64_t>(timeout.count()))};
  trainer_ = co_await in.serve<rank_trainer<on_policy_learner, training_rollouts>>(
      std::move(learning), std::move(make), in.store, std::move(group),
      std::optional(in.settings.seed));
  if (!from) co_return;
  const auto ranks = static_cast<std::size_t>(setup_.learner.replicas);
  const std::vector states(ranks, file_of(*from, "trainer.bin"));
  co_await restore_each<&on_policy_trainer::restore>(in, trainer_, states);
}

task<> on_policy::serve_policies(const checkpoint* from) {
  const auto& c = setup_.config;
  policy_options acting{.shape = shape, .network = c.network(), .seed = c.seed};
  serve_options deciding{.name = "policy",
                         .placement = placement_of(c.placement.policy),
                         .idempotent = {endpoint<&policy::act>, endpoint<&policy::values>}};
  roles.policies = co_await in.serve<policy>(std::move(deciding), std::move(acting), in.store);
  if (!from) co_return;
  auto saved = state_in<replica_states>(*from, "policies.bin");
  co_await restore_each<&policy::restore>(in, roles.policies, std::move(saved));
}

std::size_t on_policy::environment_replicas() const {
  const auto& c = setup_.config;
  const int rollouts = c.mode == training_mode::async ? c.rollout.workers : c.rollout.batch;
  return static_cast<std::size_t>(std::max(c.env.replicas, rollouts) * c.rollout.groups);
}

task<> on_policy::serve_environments(const checkpoint* from) {
  const auto& c = setup_.config;
  const auto replicas = environment_replicas();
  const auto discount = c.env.normalize_reward ? std::optional(setup_.learner.gamma) : std::nullopt;
  serve_options hosting{.name = "environments",
                        .replicas = replicas,
                        .placement = place_of(c.env),
                        .program = program_of(c.env),
                        .max_call_time = max_call_time_of(c.env)};
  roles.environments = co_await in.serve<hosted_environment>(
      std::move(hosting), environments_of(c.env, c.env.n_envs / c.rollout.groups),
      in.seed_of_segment("environments"), observers_of(in.metrics, c.env.id), discount,
      static_cast<std::size_t>(c.rollout.groups));
  roles.n_steps = c.rollout.n_steps;
  roles.sde_sample_freq = c.policy.sde_sample_freq;
  roles.choices = choice_map(spec.action_space);
  roles.groups = static_cast<std::size_t>(c.rollout.groups);
  if (c.env.normalize_obs || c.env.normalize_reward) {
    const auto width = c.env.normalize_obs ? static_cast<std::size_t>(shape.obs_size) : 0;
    roles.normalizer = std::make_shared<run_normalizer>(width, c.env.normalize_reward);
    if (in.settings.init && width > 0) {
      roles.normalizer->start_from(obs_statistics_of(in.settings.init->model));
    }
  }
  environments_expected_ = replicas;
  if (!from) co_return;
  auto saved = environment_states(*from, replicas);
  environments_expected_ = saved.size();
  co_await restore_each<&hosted_environment::restore>(in, roles.environments, std::move(saved));
  if (roles.normalizer) roles.normalizer->restore(file_of(*from, "normalizer.bin"));
}

task<> on_policy::serve_replay(const checkpoint* from) {
  const auto& c = setup_.config;
  using queue = replay_queue<rollout>;
  const auto kept = kept_rollouts(c);
  serve_options queueing{
      .name = "replay", .deadline = long_call, .idempotent = replay_endpoints<rollout>()};
  roles.replay =
      co_await in.serve<queue>(std::move(queueing), kept, std::make_shared<queue::storage>());
  if (!from) co_return;
  auto held = state_in<replay_state<rollout>>(*from, "replay.bin");
  require_fit(held, shape);
  co_await roles.replay.route<&queue::restore>(std::move(held));
}

task<> on_policy::save(checkpoint& to) {
  to.files["trainer.bin"] = co_await trainer_.route<&on_policy_trainer::save>();
  const auto policies = co_await save_each<&policy::save>(in, roles.policies, 1);
  to.files["policies.bin"] = state_bytes(policies);
  const auto environments =
      co_await save_each<&hosted_environment::save>(in, roles.environments, environments_expected_);
  to.files["environments.bin"] = state_bytes(environments);
  const auto held = co_await roles.replay.route<&replay_queue<rollout>::save>();
  to.files["replay.bin"] = state_bytes(held);
  if (roles.normalizer) to.files["normalizer.bin"] = roles.normalizer->save();
}

run_settings settings_of(const on_policy_config& c, std::string resolved,
                         std::vector<idle_option> idle) {
  auto settings = settings_of(static_cast<const run_config&>(c), std::move(resolved));
  const bool sync = c.mode == training_mode::sync;
  settings.network = c.network();
  settings.updates = c.updates();
  settings.total_steps = c.updates() * c.steps_of_update();
  settings.schedule_steps = c.steps_of_schedules();
  settings.update_options = "rollout.n_steps * env.n_envs * rollout.batch";
  settings.steps_of_update = c.steps_of_update();
  settings.replicas_at_once = sync ? c.rollout.batch : c.rollout.workers;
  settings.replicas_option = sync ? "rollout.batch" : "rollout.workers";
  settings.idle = std::move(idle);
  return settings;
}

}  // namespace troupe
