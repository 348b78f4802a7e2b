#include "actors/torch.hpp"

#include "algorithms/on_policy/ppo/ppo_cast.hpp"

#include "actors/trainer/rank_trainer.hpp"

#include <nlohmann/json.hpp>

#include "algorithms/run/cast_state.hpp"
#include "algorithms/run/replay_endpoints.hpp"

namespace troupe::detail {

namespace {

/// No lambda, so that it crosses processes.
struct new_learner {
  network_shape shape;
  ppo_options options;
  std::uint64_t seed;

  rollout_learner operator()() const { return rollout_learner(shape, options, seed); }
};

placement place_of_trainer(const ppo_config& c) {
  if (c.placement.trainer != "auto") return placement_of(c.placement.trainer);
  // Ranks wait for one another.
  const bool blocks = c.mode == training_mode::async || c.trainer.replicas > 1;
  return blocks ? placement::thread : placement::shared;
}

task<service<ppo_trainer>> serve_trainer(production& p,
                                         portable_function<rollout_learner()> make_learner) {
  const auto& c = p.config;
  const auto world = static_cast<std::size_t>(c.trainer.replicas);
  auto learning = restartable(p.sys,
                              {.name = "trainer",
                               .replicas = world,
                               .placement = place_of_trainer(c),
                               .deadline = long_call},
                              {endpoint<&ppo_trainer::push_weights>, endpoint<&ppo_trainer::save>,
                               endpoint<&ppo_trainer::restore>});
  if (world == 1) {
    co_return co_await p.sys.serve<ppo_trainer>(std::move(learning), std::move(make_learner),
                                                p.store);
  }
  gloo_rendezvous group{.world = world,
                        .file = p.meeting.emplace().file(),
                        .timeout = std::chrono::milliseconds(
                            static_cast<std::int64_t>(c.trainer.rank_timeout * 1000.0))};
  co_return co_await p.sys.serve<rank_trainer<rollout_learner>>(
      std::move(learning), std::move(make_learner), p.store, std::move(group));
}

/// The store first: trainer and policies take the newest weights from it.
task<> serve_learning(production& p, const checkpoint* from) {
  const auto& c = p.config;
  auto keeping = restartable(p.sys, {.name = "weights"},
                             {endpoint<&weight_store::put>, endpoint<&weight_store::latest>,
                              endpoint<&weight_store::versions>});
  auto shelf = std::make_shared<weight_store::shelf>();
  p.store =
      co_await p.sys.serve<weight_store>(std::move(keeping), std::size_t{3}, std::move(shelf));
  if (from) co_await p.store.route<&weight_store::put>(weights_of(*from));

  portable_function<rollout_learner()> make_learner = new_learner{p.shape, c.learner(), c.seed};
  p.learner = co_await serve_trainer(p, std::move(make_learner));
  if (from) {
    const std::vector states(c.trainer.replicas, file_of(*from, "trainer.bin"));
    co_await restore_each<&ppo_trainer::restore>(p.learner, states);
  }

  policy_options acting{.shape = p.shape, .network = c.network(), .seed = c.seed};
  auto deciding =
      restartable(p.sys, {.name = "policy", .placement = placement_of(c.placement.policy)},
                  {endpoint<&policy::act>, endpoint<&policy::values>});
  p.roles.policies = co_await p.sys.serve<policy>(std::move(deciding), std::move(acting), p.store);
  if (!from) co_return;
  auto saved = state_in<replica_states>(*from, "policies.bin");
  co_await restore_each<&policy::restore>(p.roles.policies, std::move(saved));
}

/// Throws state_error.
void require_fit(const replay_state<rollout>& held, const network_shape& shape) {
  try {
    for (const auto& item : held.items) check(item, shape);
  } catch (const std::invalid_argument& e) {
    throw state_error(std::string("checkpoint: replay.bin: ") + e.what());
  }
}

std::size_t environment_replicas(const ppo_config& c) {
  const int rollouts = c.mode == training_mode::async ? c.rollout.workers : c.rollout.batch;
  return static_cast<std::size_t>(std::max(c.env.replicas, rollouts) * c.rollout.groups);
}

task<> serve_experience(production& p, const checkpoint* from) {
  const auto& c = p.config;
  const bool async = c.mode == training_mode::async;
  const auto replicas = environment_replicas(c);
  auto hosting = restartable(
      p.sys,
      {.name = "environments", .replicas = replicas, .placement = placement_of(c.env.placement)},
      {});
  p.roles.environments = co_await p.sys.serve<hosted_environment>(
      std::move(hosting), environments_of(c.env, c.env.n_envs / c.rollout.groups),
      seed_of_segment(p, "environments"), observers_of(p.metrics, c.env.id),
      c.env.normalize_reward ? std::optional(c.trainer.gamma) : std::nullopt,
      static_cast<std::size_t>(c.rollout.groups));
  if (from) {
    auto saved = state_in<replica_states>(*from, "environments.bin");
    if (saved.size() != replicas) {
      throw state_error("checkpoint: expected " + std::to_string(replicas) +
                        " replicas of environments, got " + std::to_string(saved.size()));
    }
    co_await restore_each<&hosted_environment::restore>(p.roles.environments, std::move(saved));
  }

  // In sync mode 1, because a policy that is restarted while weights are pushed may come back with
  // those before: its rollout is corrected for. It would be waited for in vain if it were dropped.
  replay_options kept{.batch = c.rollout.batch,
                      .max_staleness = async ? c.rollout.max_staleness : 1};
  kept.capacity = std::max(kept.capacity, static_cast<std::size_t>(c.rollout.batch));
  using queue = replay_queue<rollout>;
  auto queueing =
      restartable(p.sys, {.name = "replay", .deadline = long_call}, replay_endpoints<rollout>());
  p.roles.replay =
      co_await p.sys.serve<queue>(std::move(queueing), kept, std::make_shared<queue::shelf>());
  p.roles.n_steps = c.rollout.n_steps;
  p.roles.sde_sample_freq = c.policy.sde_sample_freq;
  p.roles.groups = static_cast<std::size_t>(c.rollout.groups);
  if (c.env.normalize_obs || c.env.normalize_reward) {
    const auto width = c.env.normalize_obs ? static_cast<std::size_t>(p.shape.obs_size) : 0;
    p.roles.normalizer = std::make_shared<run_normalizer>(width, c.env.normalize_reward);
    if (from) p.roles.normalizer->restore(file_of(*from, "normalizer.bin"));
  }
  if (!from) co_return;
  auto held = state_in<replay_state<rollout>>(*from, "replay.bin");
  require_fit(held, p.shape);
  co_await p.roles.replay.route<&replay_queue<rollout>::restore>(std::move(held));
}

}  // namespace

production::production(system& sys, ppo_config config, ppo_output output,
                       training_callbacks callbacks)
    : environment_cast(sys, settings_of(config), std::move(output), std::move(callbacks)),
      config(std::move(config)) {}

production::~production() {
  stop(exam);
  stop(judge);
  stop(roles.replay);
  stop(roles.environments);
  stop(roles.policies);
  stop(learner);
  stop(store);
  stop(records);
}

task<> production::serve(const checkpoint* from) {
  if (from) begin_from(*this, *from);
  co_await serve_recorder(*this, from);
  co_await serve_learning(*this, from);
  co_await serve_experience(*this, from);
  co_await serve_evaluator(*this);
}

task<checkpoint> production::save() {
  auto state = co_await begin_checkpoint(*this);
  state.files["trainer.bin"] = co_await learner.route<&ppo_trainer::save>();
  const auto policies = co_await save_each<&policy::save>(roles.policies, 1);
  state.files["policies.bin"] = state_bytes(policies);
  const auto environments = co_await save_each<&hosted_environment::save>(
      roles.environments, environment_replicas(config));
  state.files["environments.bin"] = state_bytes(environments);
  const auto held = co_await roles.replay.route<&replay_queue<rollout>::save>();
  state.files["replay.bin"] = state_bytes(held);
  if (roles.normalizer) state.files["normalizer.bin"] = roles.normalizer->save();
  co_return state;
}

training_settings settings_of(const ppo_config& c) {
  return {.algo = c.algo,
          .env = c.env,
          .seed = c.seed,
          .mode = c.mode,
          .evaluation = c.evaluation,
          .checkpoint = c.checkpoint,
          .deterministic = c.deterministic,
          .faults = c.plan(),
          .network = c.network(),
          .updates = c.updates(),
          .total_steps = c.updates() * c.steps_of_update(),
          .config = c.stored()};
}

}  // namespace troupe::detail
