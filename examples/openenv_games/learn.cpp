#include "actors/torch/torch.hpp"

#include "examples/openenv_games/learn.hpp"

#include <memory>
#include <utility>

#include "actors/networks/acting_network.hpp"
#include "actors/networks/model_file.hpp"
#include "actors/recorder/run_directory.hpp"
#include "algorithms/loops/loops.hpp"
#include "algorithms/off_policy/q_learning/q_rollout.hpp"
#include "algorithms/on_policy/ppo/ppo.hpp"

namespace games {

namespace loops = troupe::loops;
namespace openenv = troupe::openenv;
using nlohmann::json;

namespace {

constexpr int sessions = 64;

// ---- a table

troupe::task<std::int64_t> learn(troupe::q_roles r, troupe::service<troupe::q_learner> learner,
                                 std::vector<troupe::q_rollout> batch) {
  const auto table =
      co_await learner.route<&troupe::q_learner::learn>(std::move(batch[0].transitions));
  co_await r.policies.fanout<&troupe::tabular_policy::update>(table);
  co_return table.version;
}

/// The best of the legal actions.
player player_of(const game& what, troupe::q_table table,
                 std::shared_ptr<const troupe::discrete_states> states) {
  std::vector<float> obs(what.table_view.spec.observation_space.flat_size());
  return [=, view = what.table_view](const json& observation, troupe::action_random&) mutable {
    view.observe(observation, obs);
    const auto row = states->index(obs) * table.actions;
    std::int64_t best = -1;
    for (std::int64_t action = 0; action < table.actions; ++action) {
      const auto value = [&](std::int64_t of) {
        return (*table.values)[static_cast<std::size_t>(row + of)];
      };
      if (view.forbid && view.forbid(observation, troupe::action_view(std::as_const(action))))
        continue;
      if (best < 0 || value(action) > value(best)) best = action;
    }
    return best;
  };
}

// ---- a network

player player_of(const game& what, const troupe::saved_model& model, std::uint64_t seed) {
  const auto actions = what.view.spec.action_space;
  const std::shared_ptr<troupe::acting_network> network =
      troupe::make_acting_network(model.shape, model.options, actions, seed);
  network->load_parameters(model.parameters);
  std::vector<float> obs(what.view.spec.observation_space.flat_size());
  return [=, view = what.view](const json& observation, troupe::action_random& random) mutable {
    view.observe(observation, obs);
    std::int64_t choice = 0;
    network->act(obs.data(), 1, random, /*deterministic=*/true, {.choice = &choice});
    return choice;
  };
}

}  // namespace

troupe::task<player> learn_by_table(troupe::system& sys, game what, openenv::client_options servers,
                                    std::uint64_t seed) {
  constexpr std::int64_t steps_of_update = 16;
  const auto& spec = what.table_view.spec;
  const auto actions = spec.action_space.get_if<troupe::spaces::discrete>()->n;
  troupe::q_roles r;
  r.states = std::make_shared<const troupe::discrete_states>(spec.observation_space);
  r.n_steps = steps_of_update;
  const troupe::q_learning_options options{
      .lr = 0.005, .gamma = 1, .epsilon_begin = 1, .epsilon_end = 0.1, .epsilon_steps = what.steps};
  const auto nothing = troupe::q_learner(r.states->size(), actions, options).table();

  troupe::hosted_environment::factory worlds = [view = what.table_view, servers] {
    return openenv::make_numeric_worlds(view, servers, sessions);
  };
  // A step of these environments waits for the servers, so they have threads of their own.
  r.environments = co_await sys.serve<troupe::hosted_environment>(
      {.name = "environments", .placement = troupe::placement::thread}, worlds, seed);
  r.policies = co_await sys.serve<troupe::tabular_policy>({.name = "policies"}, nothing, seed);
  r.replay = co_await sys.serve<troupe::replay_queue<troupe::q_rollout>>(
      {.name = "replay"}, troupe::replay_options{.batch = 1});
  const auto learner = co_await sys.serve<troupe::q_learner>({.name = "learner"}, r.states->size(),
                                                             actions, options);

  loops::hooks<troupe::q_rollout> hooks{.train = [&](std::vector<troupe::q_rollout> batch) {
    return learn(r, learner, std::move(batch));
  }};
  co_await loops::synchronous(r, troupe::generate_q_rollout, hooks,
                              {.updates = what.steps / (steps_of_update * sessions)});
  const auto table = co_await learner.route<&troupe::q_learner::table>();
  sys.stop(learner);
  sys.stop(r.replay);
  sys.stop(r.policies);
  sys.stop(r.environments);
  co_return player_of(what, table, r.states);
}

troupe::task<player> learn_by_ppo(troupe::system& sys, game what, openenv::client_options servers,
                                  std::uint64_t seed) {
  const auto id = what.view.spec.id;
  openenv::register_world("OpenEnv/" + id, what.view, std::move(servers));
  troupe::ppo_config config;
  config.seed = seed;
  config.env = {.id = "OpenEnv/" + id, .n_envs = sessions, .placement = "thread"};
  config.total_steps = what.steps;
  config.rollout.n_steps = 64;
  config.trainer.batch_size = 512;
  config.trainer.gamma = 1;
  config.trainer.lr = 1e-3;
  config.trainer.lr_schedule = troupe::annealing::linear;
  config.trainer.ent_coef = 0.01;
  config.evaluation = {.every_steps = 0, .final_episodes = 100};
  const auto run = co_await troupe::train_in(sys, config, {.root = "runs"});
  const auto model =
      troupe::load_model(troupe::run_directory::open(run.run_directory).last_model());
  co_return player_of(what, model, seed);
}

}  // namespace games
