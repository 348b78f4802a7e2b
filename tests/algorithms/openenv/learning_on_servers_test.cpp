// The algorithms on environments of an OpenEnv server: what they learn is what they learn on the
// same environments at home.

#include "actors/torch/torch.hpp"

#include "actors/openenv/client/numeric_worlds.hpp"
#include "actors/openenv/server/server.hpp"
#include "actors/worlds/registry.hpp"
#include "algorithms/loops/loops.hpp"
#include "algorithms/off_policy/dqn/dqn.hpp"
#include "algorithms/off_policy/q_learning/q_rollout.hpp"
#include "algorithms/on_policy/ppo/ppo.hpp"
#include "runtime/system/system.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

env_spec spec_of_environment(const std::string& id) {
  return make_vector_environment(id, 1)->spec();
}

/// A server of these environments.
class served {
 public:
  explicit served(const std::string& id)
      : server_([id] { return make_vector_environment(id, 1); }, {.port = 0}, metrics_) {}

  std::string url() const { return "http://127.0.0.1:" + std::to_string(server_.port()); }

 private:
  metrics_registry metrics_;
  openenv_server::server server_;
};

template <class Config>
run_summary train(Config config, const std::string& id) {
  const temporary_folder folder;
  config.env.id = id;
  config.env.placement = "thread";
  config.evaluation = {.every_steps = 256, .episodes = 2, .final_episodes = 4};
  system sys({.threads = 2});
  return sys.run(train_in(sys, algorithm_with(config), {.root = folder.path}));
}

TEST_CASE("openenv worlds: PPO and DQN learn on a server what they learn at home", "[openenv]") {
  const served cartpole("CartPole-v1");
  openenv::register_world("Served-CartPole",
                          openenv::served_view(spec_of_environment("CartPole-v1")),
                          {.urls = {cartpole.url()}});
  ppo_config ppo;
  ppo.env.n_envs = 4;
  ppo.total_steps = 512;
  ppo.rollout.n_steps = 64;
  CHECK(train(ppo, "Served-CartPole").weights_sha256 == train(ppo, "CartPole-v1").weights_sha256);

  dqn_config dqn;
  dqn.total_steps = 512;
  dqn.collection.learning_starts = 100;
  CHECK(train(dqn, "Served-CartPole").weights_sha256 == train(dqn, "CartPole-v1").weights_sha256);
}

/// The same without its time limit, of which then the server alone knows.
env_spec spec_without_limit(const std::string& id) {
  auto spec = spec_of_environment(id);
  spec.max_episode_steps.reset();
  return spec;
}

TEST_CASE("openenv worlds: PPO values what it saw last of an episode that the server cut",
          "[openenv]") {
  const served car("MountainCar-v0");  // no episode of it ends before its limit of 200 steps
  openenv::register_world("Served-MountainCar",
                          openenv::served_view(spec_without_limit("MountainCar-v0")),
                          {.urls = {car.url()}});
  ppo_config ppo;
  ppo.env.n_envs = 2;
  ppo.total_steps = 1024;
  ppo.rollout.n_steps = 256;
  CHECK(train(ppo, "Served-MountainCar").weights_sha256 ==
        train(ppo, "MountainCar-v0").weights_sha256);
}

/// Ten updates of tabular Q-learning at eight tables of Blackjack.
task<std::vector<double>> learn_table(system& sys, hosted_environment::factory tables,
                                      const space* observations) {
  q_roles r;
  r.states = std::make_shared<const discrete_states>(*observations);
  r.n_steps = 16;
  q_learner learner(r.states->size(), 2, {.lr = 0.1});
  r.environments = co_await sys.serve<hosted_environment>(
      {.name = "tables", .placement = placement::thread}, tables, std::uint64_t{1});
  r.policies =
      co_await sys.serve<tabular_policy>({.name = "policies"}, learner.table(), std::uint64_t{2});
  for (int update = 0; update < 10; ++update) {
    const auto made = co_await generate_q_rollout(r);
    co_await r.policies.fanout<&tabular_policy::update>(learner.learn(made.transitions));
  }
  co_return *learner.table().values;
}

std::vector<double> table_learned_at(hosted_environment::factory tables,
                                     const space& observations) {
  system sys({.threads = 2});
  return sys.run(learn_table(sys, std::move(tables), &observations));
}

TEST_CASE("openenv worlds: a table learns on a server what it learns at home", "[openenv]") {
  const served blackjack("Blackjack-v1");
  const auto spec = spec_of_environment("Blackjack-v1");
  auto view = openenv::served_view(spec);
  view.observe = [](const nlohmann::json& observation, std::span<float> obs) {
    std::ranges::fill(obs, 0.0F);
    std::size_t before = 0;
    for (const auto& [part, width] : {std::pair(0, 32), std::pair(1, 11), std::pair(2, 2)}) {
      obs[before + observation.at("obs").at(static_cast<std::size_t>(part)).get<std::size_t>()] = 1;
      before += static_cast<std::size_t>(width);
    }
  };
  const openenv::client_options servers{.urls = {blackjack.url()}};
  const auto abroad = table_learned_at(
      [&] { return openenv::make_numeric_worlds(view, servers, 8); }, spec.observation_space);
  const auto at_home = table_learned_at([] { return make_vector_environment("Blackjack-v1", 8); },
                                        spec.observation_space);
  CHECK(abroad == at_home);
  CHECK(std::ranges::count_if(abroad, [](double value) { return value != 0; }) > 50);
}

}  // namespace
}  // namespace troupe
