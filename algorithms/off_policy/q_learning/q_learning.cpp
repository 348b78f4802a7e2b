#include "actors/torch/torch.hpp"

#include "algorithms/off_policy/q_learning/q_learning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "actors/networks/shape_of.hpp"
#include "actors/random/derived_seed.hpp"
#include "algorithms/off_policy/off_policy.hpp"
#include "algorithms/off_policy/run_collectors.hpp"
#include "algorithms/run/replay_endpoints.hpp"
#include "algorithms/run/run_state.hpp"
#include "algorithms/run/trainer_role.hpp"

namespace troupe {

namespace {

/// The actions of a table. Throws std::invalid_argument, which names the environment and its
/// spaces, if there can be no table.
std::int64_t actions_of(const env_spec& spec) {
  const auto* choice = spec.action_space.get_if<spaces::discrete>();
  if (choice == nullptr) {
    throw std::invalid_argument(
        fmt::format("q_learning: expected an environment with actions of Discrete, got {}, whose "
                    "are {}; dqn takes Discrete with any observation, ppo and a2c take any",
                    spec.id, to_string(spec.action_space)));
  }
  return choice->n;
}

/// Throws std::invalid_argument as actions_of, and for a table that is too large.
discrete_states states_of(const env_spec& spec) {
  try {
    return discrete_states(spec.observation_space);
  } catch (const std::invalid_argument&) {
    throw std::invalid_argument(fmt::format(
        "q_learning: expected an environment with observations of Discrete, MultiDiscrete, or a "
        "Tuple or Dict of them, which together have at most 2^31 values, got {}, whose are {}; dqn "
        "takes any observation",
        spec.id, to_string(spec.observation_space)));
  }
}

network_shape table_shape(const env_spec& spec) {
  actions_of(spec);
  auto shape = shape_of(spec);
  const auto states = states_of(spec);
  for (const auto width : states.widths()) shape.states.push_back(static_cast<int>(width));
  return shape;
}

}  // namespace

task<collected_transitions> generate_collection(collection_roles roles) {
  const auto one = co_await roles.collectors.session();
  const auto first = *roles.begun;
  *roles.begun += roles.steps * roles.environments;
  co_return co_await one.route<&collector::collect>(first, roles.steps);
}

q_learning::q_learning(training_run& in, q_learning_config config)
    : environment_algorithm(in), config_(std::move(config)) {}

std::size_t q_learning::workers() const {
  const bool async = config_.mode == training_mode::async;
  return static_cast<std::size_t>(async ? config_.collection.workers : 1);
}

std::size_t q_learning::collectors() const {
  return std::max(workers(), static_cast<std::size_t>(config_.env.replicas));
}

std::int64_t q_learning::schedule_steps() const {
  return config_.schedule_steps.value_or(config_.total_steps);
}

loop_sizes q_learning::sizes() const { return {.batch = 1, .rollouts = workers()}; }

// ---- one update, in the order in which it happens --------------------------------------------

task<std::int64_t> q_learning::update(std::vector<collected_transitions> made) {
  for (const auto& one : made) in.metrics.batch_sampled(in.progress.version - one.version);
  co_await record_episodes(made);
  const auto push = [&] {
    return push_to<&collector::update>(trainer_, std::vector{roles.collectors});
  };
  const auto learned = co_await make_update<table_trainer>(in, trainer_, std::move(made), push);
  if (episodes_to_log_ >= config_.log.episodes) co_await record(learned);
  co_return in.progress.version;
}

/// Records the episodes that ended in these collections and counts the collections' steps.
task<> q_learning::record_episodes(const std::vector<collected_transitions>& made) {
  for (const auto& one : made) {
    for (const auto& e : one.episodes) {
      co_await in.records.route<&recorder::episode_with_info>(in.progress.steps + e.step,
                                                              e.episode_return, e.length, e.info);
      ++episodes_to_log_;
    }
    in.progress.steps += one.steps;
  }
}

/// Writes a row of progress.csv, which is due every few episodes.
task<> q_learning::record(const learner_report& learned) {
  episodes_to_log_ = 0;
  progress_row row{in.progress.steps, columns_of(learned.metrics)};
  row.values["rollout/exploration_rate"] =
      config_.exploration.at(in.progress.steps, schedule_steps());
  in.metrics.updated(figures_of(learned.metrics));
  co_await in.record(std::move(row));
  const auto seen = co_await roles.replay.route<&replay_queue<collected_transitions>::counts>();
  in.metrics.replay_holds(seen.held, seen.bytes, seen.repeated, seen.stale);
}

// ---- roles -----------------------------------------------------------------------------------

namespace detail {

/// Makes the learner in the trainer's replica.
struct tabular_learner_maker {
  space observations;
  std::int64_t actions;
  q_rule_options options;

  std::unique_ptr<tabular_learner> operator()() const {
    return std::make_unique<tabular_learner>(observations, actions, options);
  }
};

}  // namespace detail

task<> q_learning::serve(const checkpoint* from) {
  const bool async = in.settings.mode == training_mode::async;
  const detail::tabular_learner_maker make{spec.observation_space, actions_of(spec),
                                           config_.trainer};
  trainer_ = co_await serve_trainer<table_trainer>(
      in, async ? placement::thread : placement::shared, make, from);
  co_await serve_collectors(from);
  co_await in.practise_on(roles.collectors, collectors());
  co_await serve_replay(from);
  co_await serve_evaluator();
}

task<> q_learning::serve_collectors(const checkpoint* from) {
  const auto& c = config_;
  roles.steps = c.collection.train_freq;
  roles.environments = c.env.n_envs;
  auto collecting = collector_options_of(in, c.env, shape);
  collecting.explore = {.total_steps = schedule_steps(), .epsilon = c.exploration};
  collecting.gamma = c.trainer.gamma;
  roles.collectors = co_await serve_run_collectors(in, c.env, std::move(collecting), collectors());
  collectors_expected_ = collectors();
  if (!from) co_return;
  auto saved = state_in<collectors_state>(*from, "collectors.bin");
  *roles.begun = saved.begun;
  episodes_to_log_ = saved.episodes_to_log;
  collectors_expected_ =
      co_await restore_collectors(in, roles.collectors, std::move(saved.replicas), collectors());
}

task<> q_learning::serve_replay(const checkpoint* from) {
  using queue = replay_queue<collected_transitions>;
  // As for on-policy algorithms, the bound is 1 in sync mode: a collector that is restarted while a
  // table is pushed may come back with the previous one.
  const bool async = in.settings.mode == training_mode::async;
  const replay_options kept{.batch = 1,
                            .max_staleness = async ? config_.collection.max_staleness : 1};
  serve_options queueing{.name = "replay",
                         .deadline = long_call,
                         .idempotent = replay_endpoints<collected_transitions>()};
  roles.replay =
      co_await in.serve<queue>(std::move(queueing), kept, std::make_shared<queue::storage>());
  if (!from) co_return;
  auto held = state_in<replay_state<collected_transitions>>(*from, "replay.bin");
  co_await roles.replay.route<&queue::restore>(std::move(held));
}

task<> q_learning::save(checkpoint& state) {
  state.files["trainer.bin"] = co_await trainer_.route<&table_trainer::save>();
  auto states = co_await save_each<&collector::save>(in, roles.collectors, collectors_expected_);
  state.files["collectors.bin"] =
      state_bytes(collectors_state{*roles.begun, episodes_to_log_, std::move(states)});
  const auto held = co_await roles.replay.route<&replay_queue<collected_transitions>::save>();
  state.files["replay.bin"] = state_bytes(held);
}

algorithm algorithm_with(const q_learning_config& c) {
  network_options table;
  table.hidden = {};
  table.kind = network_kind::q_table;
  auto settings = settings_of(c.shared(), table, to_json<q_learning_config>(c).dump());
  settings.shape = table_shape;
  settings.idle = idle_options_of(c);
  auto check = [settings, rule = c.trainer] {
    const auto spec = spec_of(settings.env);
    const auto actions = actions_of(spec);
    states_of(spec);
    tabular_learner(spec.observation_space, actions, rule);  // throws if the table is too large
    require_network(settings);
  };
  return make_algorithm<q_learning>(std::move(settings), std::move(check), c);
}

}  // namespace troupe
