#include "actors/torch/torch.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "actors/checkpoint/state_codec.hpp"
#include "actors/networks/named_tensors.hpp"
#include "algorithms/multi_agent/on_policy/joint_on_policy.hpp"
#include "algorithms/on_policy/on_policy.hpp"
#include "algorithms/run/replay_endpoints.hpp"
#include "algorithms/run/run_state.hpp"
#include "algorithms/run/trainer_role.hpp"

namespace troupe {

namespace {

/// Throws state_error if a rollout in the replay does not fit the networks.
void require_fit(const replay_state<joint_rollout>& held, const network_shape& shape) {
  try {
    for (const auto& item : held.items) check(item, shape);
  } catch (const std::invalid_argument& e) {
    throw state_error(std::string("checkpoint: replay.bin: ") + e.what());
  }
}

}  // namespace

task<> joint_on_policy::serve(const checkpoint* from) {
  trainer_ = co_await serve_trainer<joint_trainer>(in, place_of_trainer(setup_.config, 1),
                                                   setup_.maker(shape), from);
  co_await serve_policies(from);
  co_await serve_environments(from);
  co_await in.practise_on(roles.environments, environment_replicas());
  co_await serve_replay(from);
  co_await serve_evaluator();
}

task<> joint_on_policy::serve_policies(const checkpoint* from) {
  const auto& c = setup_.config;
  std::int64_t first = 0;
  std::vector<replica_states> saved;
  if (from) saved = state_in<std::vector<replica_states>>(*from, "policies.bin");
  if (from && saved.size() != shape.policies.size()) {
    throw state_error(fmt::format("checkpoint: policies.bin: expected {} policies, got {}",
                                  shape.policies.size(), saved.size()));
  }
  for (std::size_t i = 0; i < shape.policies.size(); ++i) {
    const auto own = shape_of(shape.policies[i]);
    policy_options acting{.shape = own,
                          .network = setup_.network,
                          .seed = c.seed,
                          .first_parameter = first,
                          .of_several = true,
                          .stream = "policy " + shape.policies[i].name};
    if (const auto& script = shape.policies[i].script; !script.empty()) {
      const auto agent = std::ranges::find(shape.agents, static_cast<int>(i), &agent_view::policy);
      const auto& of = spec.agents[static_cast<std::size_t>(agent - shape.agents.begin())];
      acting.script = {script, of.action_space, c.env.options.text};
      acting.own_obs = agent->obs_size;
    }
    serve_options deciding{.name = "policy_" + shape.policies[i].name,
                           .placement = placement_of(c.placement.policy),
                           .idempotent = {endpoint<&policy::act>, endpoint<&policy::values>}};
    auto served = co_await in.serve<policy>(std::move(deciding), std::move(acting), in.store);
    roles.policies.push_back(std::move(served));
    first += layout_of(own, setup_.network).count;
    if (!from) continue;
    co_await restore_each<&policy::restore>(in, roles.policies.back(), std::move(saved[i]));
  }
}

std::size_t joint_on_policy::environment_replicas() const {
  const auto& c = setup_.config;
  const int rollouts = c.mode == training_mode::async ? c.rollout.workers : c.rollout.batch;
  return static_cast<std::size_t>(std::max(c.env.replicas, rollouts));
}

task<> joint_on_policy::serve_environments(const checkpoint* from) {
  const auto& c = setup_.config;
  const auto replicas = environment_replicas();
  serve_options hosting{.name = "environments",
                        .replicas = replicas,
                        .placement = place_of(c.env),
                        .program = program_of(c.env),
                        .max_call_time = max_call_time_of(c.env)};
  roles.environments = co_await in.serve<hosted_environment>(
      std::move(hosting), environments_of(c.env, c.env.n_envs), in.seed_of_segment("environments"),
      observers_of(in.metrics, c.env.id), std::optional<double>(), std::size_t{1});
  roles.n_steps = c.rollout.n_steps;
  roles.rows = std::make_shared<const agent_rows>(shape, spec.action_space);
  roles.shape = shape;
  roles.joint_actions = setup_.joint_actions;
  roles.sharing = {.weight = c.agents.shared_reward,
                   .team = c.agents.team,
                   .after_end = c.agents.reward_after_end};
  roles.limits_end = !c.agents.proper_time_limits;
  environments_expected_ = replicas;
  if (!from) co_return;
  auto saved = environment_states(*from, replicas);
  environments_expected_ = saved.size();
  co_await restore_each<&hosted_environment::restore>(in, roles.environments, std::move(saved));
}

task<> joint_on_policy::serve_replay(const checkpoint* from) {
  using queue = replay_queue<joint_rollout>;
  const auto kept = kept_rollouts(setup_.config);
  serve_options queueing{
      .name = "replay", .deadline = long_call, .idempotent = replay_endpoints<joint_rollout>()};
  roles.replay =
      co_await in.serve<queue>(std::move(queueing), kept, std::make_shared<queue::storage>());
  if (!from) co_return;
  auto held = state_in<replay_state<joint_rollout>>(*from, "replay.bin");
  require_fit(held, shape);
  co_await roles.replay.route<&queue::restore>(std::move(held));
  const auto returns = state_in<std::vector<std::vector<double>>>(*from, "agents.bin");
  for (std::size_t i = 0; i < agent_returns_.size() && i < returns.size(); ++i) {
    agent_returns_[i].restore(returns[i]);
  }
}

task<> joint_on_policy::save(checkpoint& to) {
  to.files["trainer.bin"] = co_await trainer_.route<&joint_trainer::save>();
  std::vector<replica_states> policies;
  for (const auto& each : roles.policies) {
    auto states = co_await save_each<&policy::save>(in, each, 1);
    policies.push_back(std::move(states));
  }
  to.files["policies.bin"] = state_bytes(policies);
  const auto environments =
      co_await save_each<&hosted_environment::save>(in, roles.environments, environments_expected_);
  to.files["environments.bin"] = state_bytes(environments);
  const auto held = co_await roles.replay.route<&replay_queue<joint_rollout>::save>();
  to.files["replay.bin"] = state_bytes(held);
  std::vector<std::vector<double>> returns;
  for (const auto& each : agent_returns_) returns.push_back(each.values());
  to.files["agents.bin"] = state_bytes(returns);
}

}  // namespace troupe
