// Algorithms learn with a network of one's own, and their models play what they have learnt.

#include "actors/torch/torch.hpp"

#include <algorithm>
#include <cmath>

#include "actors/gradients/kernel_graph.hpp"
#include "actors/gradients/policy.hpp"
#include "actors/networks/model_file.hpp"
#include "actors/worlds/registry.hpp"
#include "algorithms/off_policy/dqn/dqn.hpp"
#include "algorithms/off_policy/sac/sac.hpp"
#include "algorithms/on_policy/ppo/ppo.hpp"
#include "algorithms/run/load_policy.hpp"
#include "tests/actors/networks/gated.hpp"
#include "tests/algorithms/stage.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using namespace testing;
using Catch::Matchers::Contains;

/// An episode of one step, which pays 1 less what the action misses the product of two numbers by.
/// With choices it pays 1 for the product's sign.
template <bool Discrete>
class product_task final : public environment {
 public:
  env_spec spec() const override {
    return {.id = Discrete ? "SignOfProduct-v0" : "Product-v0",
            .observation_space = spaces::box(-1.0f, 1.0f, {2}),
            .action_space =
                Discrete ? space(spaces::discrete(2)) : space(spaces::box(-1.0f, 1.0f, {1})),
            .max_episode_steps = 1};
  }
  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override {
    if (seed) random_ = action_random(*seed);
    show(obs);
  }
  step_result step(action_view action, std::span<float> obs) override {
    double reward = 0;
    if constexpr (Discrete) {
      reward = (action.discrete() == 1) == (product_ > 0) ? 1 : 0;
    } else {
      reward = 1 - std::abs(action.continuous()[0] - product_);
    }
    show(obs);
    return {.reward = reward, .terminated = true};
  }

 private:
  void show(std::span<float> obs) {
    for (auto& x : obs) x = static_cast<float>(random_.below(2) == 0 ? -1 : 1) * size();
    product_ = obs[0] * obs[1];
  }
  float size() { return 0.5f + 0.5f * static_cast<float>(random_.uniform()); }

  action_random random_{0};
  float product_ = 0;
};

void register_tasks() {
  [[maybe_unused]] static const bool known =
      (register_gated(), register_environment<product_task<true>>("SignOfProduct-v0"),
       register_environment<product_task<false>>("Product-v0"), true);
}

/// A run on a task with the encoder, and its summary.
template <class Config>
run_summary trained(stage& on, Config config, const char* task) {
  register_tasks();
  config.env.id = task;
  config.policy.encoder = "gated";
  config.policy.hidden = {16};
  config.evaluation = {.every_steps = 0, .final_episodes = 100};
  config.deterministic = true;
  return on.run(config, config.algo).summary.value();
}

ppo_config small_ppo() {
  ppo_config config;
  config.total_steps = 8192;
  config.env.n_envs = 8;
  config.rollout.n_steps = 32;
  config.trainer.lr = 3e-3;
  return config;
}

TEST_CASE("own network: PPO learns with it, and eval and load_policy play its actions") {
  quiet_stage on;
  const auto run = trained(on, small_ppo(), "SignOfProduct-v0");
  CHECK(run.eval_mean >= 0.95);  // random actions reach 0.5

  auto policy = load_policy(run.run_directory);
  const auto model = load_model(policy.path());
  CHECK(model.options.encoder == "gated");
  actor_critic network(model.shape, model.options, 1);
  network.load_parameters(model.parameters);
  product_task<true> task;
  int right = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::vector<float> obs(2);
    task.reset(seed, obs);
    const auto action = policy.act(obs).discrete[0];
    kernel_graph g;
    const auto outputs = action_outputs(g, network, trained_parameters(network).frozen(), obs);
    CHECK(action == argmax(outputs)[0]);
    right += (action == 1) == (obs[0] * obs[1] > 0) ? 1 : 0;
  }
  CHECK(right >= 47);
}

TEST_CASE("own network: DQN learns with it") {
  quiet_stage on;
  dqn_config config;
  config.total_steps = 4000;
  config.collection = {.learning_starts = 200, .train_freq = 4, .gradient_steps = 2};
  config.trainer.lr = 3e-3;
  config.trainer.batch_size = 64;
  config.policy.layer_norm = true;
  CHECK(trained(on, config, "SignOfProduct-v0").eval_mean >= 0.95);
}

TEST_CASE("own network: SAC learns with it, with other critics") {
  quiet_stage on;
  sac_config config;
  config.total_steps = 3000;
  config.collection.learning_starts = 300;
  config.trainer.lr = 3e-3;
  config.trainer.batch_size = 64;
  config.policy.critic_hidden = std::vector<int>{32};
  const auto run = trained(on, config, "Product-v0");
  CHECK(run.eval_mean >= 0.85);  // an action of 0 reaches 0.44
  const auto model = load_model(load_policy(run.run_directory).path());
  for (const auto& [name, tensor] : model.beside) {
    if (name == "qf0.0.weight") CHECK(tensor.sizes() == at::IntArrayRef({32, 7}));
  }
  CHECK(std::ranges::count(model.beside, "critic.encoder.mix", &named_tensors::value_type::first) ==
        1);
}

TEST_CASE("own network: a run with a name that is not registered is refused before it begins") {
  quiet_stage on;
  auto config = small_ppo();
  config.policy.encoder = "gatd";
  CHECK_THROWS_WITH(on.run(config, "refused"), Contains("policy.encoder \"gatd\": expected the "
                                                        "name of a network that this program"));
}

TEST_CASE("own network: options of layers are refused where they have no meaning") {
  sac_config sac;
  sac.policy.shared_hidden = {8};
  CHECK_THROWS_WITH(checked_options(sac, "sac"),
                    Contains("shared_hidden: expected [], because off-policy "
                             "algorithms train each network by a loss"));
  ppo_config ppo;
  ppo.policy.shared_hidden = {8};
  ppo.policy.encoder = "gated";
  CHECK_THROWS_WITH(checked_options(ppo, "ppo"),
                    Contains("shared_hidden: expected [] with policy.encoder"));
  dqn_config dqn;
  dqn.policy.critic_hidden = std::vector<int>{8};
  const auto idle = idle_options_of(dqn);
  REQUIRE(idle.size() == 1);
  CHECK(idle[0].name == "policy.critic_hidden");
}

}  // namespace
}  // namespace troupe
