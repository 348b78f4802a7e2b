#include "actors/torch/torch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "algorithms/learner/rank_trainer.hpp"
#include "algorithms/on_policy/on_policy.hpp"
#include "algorithms/run/initial_model.hpp"
#include "algorithms/run/replay_endpoints.hpp"
#include "algorithms/run/run_state.hpp"
#include "algorithms/run/trainer_role.hpp"

namespace troupe {

namespace {

/// Throws state_error if a rollout in the replay does not fit the networks.
void require_fit(const replay_state<rollout>& held, const network_shape& shape) {
  try {
    for (const auto& item : held.items) check(item, shape);
  } catch (const std::invalid_argument& e) {
    throw state_error(std::string("checkpoint: replay.bin: ") + e.what());
  }
}

/// Where the trainer of such a configuration runs, with so many ranks.
placement place_of_trainer(const on_policy_config& config, int ranks) {
  if (config.placement.trainer != "auto") return placement_of(config.placement.trainer);
  // Ranks wait for one another, which would block a thread of the pool.
  const bool blocks = config.mode == training_mode::async || ranks > 1;
  return blocks ? placement::thread : placement::shared;
}

/// How the replay of such a configuration keeps rollouts.
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

}  // namespace

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
  trainer_ = co_await in.serve<rank_trainer<rollout_learner>>(std::move(learning), std::move(make),
                                                              in.store, std::move(group),
                                                              std::optional(in.settings.seed));
  if (!from) co_return;
  const auto ranks = static_cast<std::size_t>(setup_.learner.replicas);
  const std::vector states(ranks, file_of(*from, "trainer.bin"));
  co_await restore_each<&on_policy_trainer::restore>(in, trainer_, states);
}

task<> on_policy::serve_policies(const checkpoint* from) {
  std::vector<replica_states> saved;
  if (from && shape.policies.empty()) {
    saved.push_back(state_in<replica_states>(*from, "policies.bin"));
  } else if (from) {
    saved = state_in<std::vector<replica_states>>(*from, "policies.bin");
  }
  const auto shapes = shapes_of_policies(shape);
  if (from && saved.size() != shapes.size()) {
    throw state_error(fmt::format("checkpoint: policies.bin: expected {} policies, got {}",
                                  shapes.size(), saved.size()));
  }
  std::int64_t first = 0;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    auto served = co_await serve_policy(i, first);
    roles.policies.push_back(std::move(served));
    first += layout_of(shapes[i], setup_.network).count;
    if (!from) continue;
    co_await restore_each<&policy::restore>(in, roles.policies.back(), std::move(saved[i]));
  }
}

/// Serves a policy, whose parameters begin at `first_parameter` among those of all.
task<service<policy>> on_policy::serve_policy(std::size_t index, std::int64_t first_parameter) {
  const auto& c = setup_.config;
  policy_options acting{.shape = shape, .network = setup_.network, .seed = c.seed};
  serve_options deciding{.name = "policy",
                         .placement = placement_of(c.placement.policy),
                         .idempotent = {endpoint<&policy::act>, endpoint<&policy::values>}};
  if (!shape.policies.empty()) {
    const auto& played = shape.policies[index];
    deciding.name += "_" + played.name;
    acting.shape = shape_of(played);
    acting.first_parameter = first_parameter;
    acting.of_several = true;
    acting.stream = "policy " + played.name;
    if (!played.script.empty()) {
      const auto agent =
          std::ranges::find(shape.agents, static_cast<int>(index), &agent_view::policy);
      const auto& of = spec.agents[static_cast<std::size_t>(agent - shape.agents.begin())];
      acting.script = {played.script, of.action_space, c.env.options.text};
      acting.own_obs = agent->obs_size;
    }
  }
  auto served = co_await in.serve<policy>(std::move(deciding), std::move(acting), in.store);
  co_return served;
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
  roles.rows = std::make_shared<const agent_rows>(shape, spec.action_space);
  roles.writing = setup_.writing;
  roles.groups = static_cast<std::size_t>(c.rollout.groups);
  if (c.env.normalize_obs || c.env.normalize_reward) {
    std::vector<normalized_columns> columns;
    const auto learns = setup_.trained ? setup_.trained(shape) : std::vector<std::uint8_t>();
    for (std::size_t i = 0; i < roles.rows->policies(); ++i) {
      const bool normalizes = c.env.normalize_obs && (learns.empty() || learns[i]);
      columns.push_back(normalizes ? normalized_columns(*roles.rows, i) : normalized_columns());
    }
    roles.normalizer = std::make_shared<run_normalizer>(columns, c.env.normalize_reward);
    for (std::size_t i = 0; in.settings.init && c.env.normalize_obs && i < columns.size(); ++i) {
      const auto seen = obs_statistics_of(in.settings.init->model, i);
      const auto is_zero = [](double mean) { return mean == 0; };
      // A policy that did not learn in the model's run has seen nothing.
      if (!std::ranges::all_of(seen.mean(), is_zero)) roles.normalizer->start_from(i, seen);
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
  if (agent_returns_.empty()) co_return;
  const auto returns = state_in<std::vector<std::vector<double>>>(*from, "agents.bin");
  for (std::size_t i = 0; i < agent_returns_.size() && i < returns.size(); ++i) {
    agent_returns_[i].restore(returns[i]);
  }
}

task<> on_policy::save(checkpoint& to) {
  to.files["trainer.bin"] = co_await trainer_.route<&on_policy_trainer::save>();
  std::vector<replica_states> policies;
  for (const auto& each : roles.policies) {
    auto states = co_await save_each<&policy::save>(in, each, 1);
    policies.push_back(std::move(states));
  }
  to.files["policies.bin"] =
      shape.policies.empty() ? state_bytes(policies.front()) : state_bytes(policies);
  const auto environments =
      co_await save_each<&hosted_environment::save>(in, roles.environments, environments_expected_);
  to.files["environments.bin"] = state_bytes(environments);
  const auto held = co_await roles.replay.route<&replay_queue<rollout>::save>();
  to.files["replay.bin"] = state_bytes(held);
  if (roles.normalizer) to.files["normalizer.bin"] = roles.normalizer->save();
  if (agent_returns_.empty()) co_return;
  std::vector<std::vector<double>> returns;
  for (const auto& each : agent_returns_) returns.push_back(each.values());
  to.files["agents.bin"] = state_bytes(returns);
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
