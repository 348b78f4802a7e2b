#include "actors/torch.hpp"

#include "algorithms/off_policy/off_policy_cast.hpp"

#include <fmt/format.h>

#include "actors/derived_seed.hpp"
#include "actors/policy/shape_of.hpp"
#include "algorithms/run/cast_state.hpp"

namespace troupe {

namespace {

struct collectors_state {
  std::int64_t begun;
  std::int64_t episodes_to_log;
  replica_states replicas;
};

transition_ring_options ring_of(const off_policy_algorithm& algorithm) {
  const auto& replay = algorithm.config.replay;
  return {.capacity = replay.capacity, .max_bytes = replay.max_bytes};
}

/// Throws std::invalid_argument if the environment's actions are not those that the network gives.
void require_actions(const training_settings& settings) {
  const auto kind = settings.network.kind;
  const bool discrete = kind == network_kind::q_values || kind == network_kind::dueling_q_values;
  const auto actions = spec_of(settings.env).action_space;
  const bool fits = discrete ? actions.get_if<spaces::discrete>() != nullptr
                             : actions.get_if<spaces::box>() != nullptr;
  if (fits) return;
  throw std::invalid_argument(fmt::format(
      "{}: expected an environment with actions of {}, got {}, whose are {}; of the others {}",
      settings.algo, discrete ? "Discrete" : "Box", settings.env.id, to_string(actions),
      discrete ? "sac, td3 and ddpg take Box, ppo and a2c take any"
               : "dqn takes Discrete, ppo and a2c take any"));
}

/// Throws config_error if a full replay takes more than it may.
void require_room(const training_settings& settings, const ring_section& replay) {
  const auto each = static_cast<double>(widths_of(shape_of(spec_of(settings.env))).bytes());
  const double wanted = each * static_cast<double>(replay.capacity);
  if (wanted <= static_cast<double>(replay.max_bytes)) return;
  throw config_error(
      "/replay/max_bytes",
      fmt::format("expected at least {:.0f} bytes, which a replay.capacity of {} transitions of "
                  "{:.0f} bytes takes when it is full, got {}",
                  wanted, replay.capacity, each, replay.max_bytes));
}

}  // namespace

off_policy_cast::off_policy_cast(system& sys, off_policy_algorithm algorithm,
                                 training_output output, training_callbacks callbacks)
    : environment_cast(sys, algorithm.settings, std::move(output), std::move(callbacks)),
      algorithm(std::move(algorithm)) {}

off_policy_cast::~off_policy_cast() {
  stop(final_judge);
  stop(judge);
  stop(trainer);
  stop(roles.collectors);
  stop(roles.replay);
  stop(store);
  stop(records);
}

std::size_t off_policy_cast::collectors() const {
  const auto& c = algorithm.config;
  const int workers = settings.mode == training_mode::async ? c.collection.workers : 1;
  return static_cast<std::size_t>(std::max(workers, c.env.replicas));
}

task<> off_policy_cast::serve(const checkpoint* from) {
  if (from) begin_from(*this, *from);
  co_await serve_recorder(*this, from);
  co_await serve_learning(from);
  co_await serve_collectors(from);
  co_await serve_evaluator(*this);
}

task<> off_policy_cast::serve_learning(const checkpoint* from) {
  const auto& c = algorithm.config;
  const bool async = settings.mode == training_mode::async;
  auto keeping_weights =
      restartable(sys, {.name = "weights"},
                  {endpoint<&weight_store::put>, endpoint<&weight_store::get>,
                   endpoint<&weight_store::latest>, endpoint<&weight_store::versions>});
  auto weights_shelf = std::make_shared<weight_store::shelf>();
  store = co_await sys.serve<weight_store>(std::move(keeping_weights), std::size_t{3},
                                           std::move(weights_shelf));
  if (from) co_await store.route<&weight_store::put>(weights_of(*from));

  transition_store_options keeping{.widths = widths_of(shape),
                                   .ring = ring_of(algorithm),
                                   .warm_up = c.warm_up(),
                                   .max_staleness = async ? c.collection.max_staleness : 0,
                                   .seed = derived_seed(settings.seed, "replay"),
                                   .prioritised = c.replay.prioritised,
                                   .normalize_obs = c.env.normalize_obs,
                                   .normalize_reward = c.env.normalize_reward};
  using transitions = transition_store;
  auto keeping_transitions =
      restartable(sys, {.name = "replay", .deadline = long_call},
                  {endpoint<&transitions::admit>, endpoint<&transitions::insert>,
                   endpoint<&transitions::sample>, endpoint<&transitions::trained>,
                   endpoint<&transitions::close>, endpoint<&transitions::prioritise>,
                   endpoint<&transitions::obs_scale>, endpoint<&transitions::counts>,
                   endpoint<&transitions::save>, endpoint<&transitions::restore>});
  auto ring_shelf = std::make_shared<transition_store::shelf>();
  roles.replay = co_await sys.serve<transition_store>(std::move(keeping_transitions), keeping,
                                                      std::move(ring_shelf));
  if (from) co_await roles.replay.route<&transition_store::restore>(file_of(*from, "replay.cbor"));

  off_policy_trainer::maker make = [make = algorithm.make_learner, shape = shape] {
    return make(shape);
  };
  auto learning =
      restartable(sys,
                  {.name = "trainer",
                   .placement = async ? placement::thread : placement::shared,
                   .deadline = long_call},
                  {endpoint<&off_policy_trainer::train>, endpoint<&off_policy_trainer::publish>,
                   endpoint<&off_policy_trainer::save>, endpoint<&off_policy_trainer::restore>});
  auto learner_shelf = std::make_shared<off_policy_trainer::shelf>();
  trainer = co_await sys.serve<off_policy_trainer>(std::move(learning), std::move(make),
                                                   algorithm.batch_size, widths_of(shape),
                                                   roles.replay, store, std::move(learner_shelf));
  if (from) co_await trainer.route<&off_policy_trainer::restore>(file_of(*from, "trainer.cbor"));
}

task<> off_policy_cast::serve_collectors(const checkpoint* from) {
  const auto& c = algorithm.config;
  roles.steps = c.collection.train_freq;
  roles.environments = c.env.n_envs;
  collector_options collecting{.environments = environments_of(c.env, c.env.n_envs),
                               .observers = observers_of(metrics, c.env.id),
                               .environment_seed = seed_of_segment(*this, "environments"),
                               .shape = shape,
                               .network = settings.network,
                               .explore = algorithm.explore,
                               .n_step = c.replay.n_step,
                               .discount_rewards = c.env.normalize_reward,
                               .gamma = algorithm.gamma,
                               .seed = settings.seed};
  auto hosting = restartable(sys,
                             {.name = "collectors",
                              .replicas = collectors(),
                              .placement = placement_of(c.env.placement),
                              .deadline = long_call},
                             {});
  roles.collectors =
      co_await sys.serve<collector>(std::move(hosting), std::move(collecting), store);
  if (!from) co_return;
  auto saved = state_in<collectors_state>(*from, "collectors.bin");
  *roles.begun = saved.begun;
  episodes_to_log = saved.episodes_to_log;
  if (saved.replicas.size() != collectors()) {
    throw state_error("checkpoint: expected " + std::to_string(collectors()) + " collectors, got " +
                      std::to_string(saved.replicas.size()));
  }
  co_await restore_each<&collector::restore>(roles.collectors, std::move(saved.replicas));
}

task<checkpoint> off_policy_cast::save() {
  auto state = co_await begin_checkpoint(*this);
  state.files["trainer.cbor"] = co_await trainer.route<&off_policy_trainer::save>();
  state.files["replay.cbor"] = co_await roles.replay.route<&transition_store::save>();
  auto states = co_await save_each<&collector::save>(roles.collectors, collectors());
  state.files["collectors.bin"] =
      state_bytes(collectors_state{*roles.begun, episodes_to_log, std::move(states)});
  co_return state;
}

task<weights> off_policy_cast::newest() {
  co_return co_await trainer.route<&off_policy_trainer::publish>();
}

task<evaluation> off_policy_cast::evaluate_at_the_end(weights of) {
  const int episodes = settings.evaluation.final_episodes;
  auto measuring = restartable(sys,
                               {.name = "final_evaluator",
                                .placement = place_of_evaluation(settings.env),
                                .deadline = long_call},
                               {endpoint<&evaluator::evaluate>});
  final_judge = co_await sys.serve<evaluator>(std::move(measuring), evaluator_of(*this, episodes),
                                              stop_asked);
  co_return co_await final_judge.route<&evaluator::evaluate>(
      std::move(of), static_cast<std::size_t>(episodes),
      derived_seed(settings.seed, "final evaluation"));
}

task<training_summary> off_policy_cast::conclude() {
  const auto seen = co_await roles.replay.route<&transition_store::counts>();
  const auto last = co_await newest();
  keep_last_model(*this, last);
  const auto final = co_await unless_stopped(*this, evaluate_at_the_end(last));
  auto summary = summary_of(*this, final, last);
  summary.staleness_mean = seen.staleness_mean();
  summary.staleness_max = seen.staleness_max;
  co_await finish_run(*this, final, last, summary);
  co_return summary;
}

trainable trainable_of(off_policy_algorithm algorithm) {
  const auto make = [algorithm](system& sys, training_output output, training_callbacks callbacks) {
    return std::make_unique<off_policy_cast>(sys, algorithm, std::move(output),
                                             std::move(callbacks));
  };
  const auto check = [settings = algorithm.settings, replay = algorithm.config.replay] {
    require_actions(settings);
    require_network(settings);
    require_room(settings, replay);
  };
  return {std::move(algorithm.settings), make, check};
}

}  // namespace troupe
