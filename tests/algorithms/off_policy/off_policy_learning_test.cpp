// DQN, SAC and TD3 learn, as whole runs with settings that take about two seconds of CPU a seed.
// The median of three seeds is judged: other processors round otherwise, which is as another seed,
// and of twenty-seven seeds two of SAC's fell short and one of TD3's, of nineteen none of DQN's.

#include "actors/torch/torch.hpp"

#include "algorithms/off_policy/dqn/dqn.hpp"
#include "algorithms/off_policy/sac/sac.hpp"
#include "algorithms/off_policy/td3/td3.hpp"
#include "tests/algorithms/stage.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using namespace testing;

/// Over the seeds 1, 2 and 3: the median of the last policy's mean return, over 100 episodes.
template <class Config>
double median_return(Config config) {
  stage on;
  config.evaluation = {.every_steps = 0, .final_episodes = 100};
  config.deterministic = true;
  std::vector<double> returns;
  for (const std::uint64_t seed : {1, 2, 3}) {
    config.seed = seed;
    const auto run = on.run(algorithm_with(config), std::to_string(seed)).summary.value();
    returns.push_back(run.eval_mean);
  }
  UNSCOPED_INFO("returns " << returns[0] << ", " << returns[1] << ", " << returns[2]);
  std::ranges::sort(returns);
  return returns[1];
}

TEST_CASE("off-policy learning: DQN balances CartPole's pole") {
  dqn_config config;
  config.total_steps = 50'000;
  config.collection = {.learning_starts = 1000, .train_freq = 16, .gradient_steps = 16};
  config.replay = {.capacity = 50'000, .n_step = 5};
  config.trainer.lr = 1e-3;
  config.trainer.lr_schedule = annealing::linear;
  config.trainer.batch_size = 64;
  config.trainer.target_update_interval = 500;
  config.exploration = {.final = 0.02, .fraction = 0.2};
  CHECK(median_return(config) >= 450);  // 500 is the most; random actions reach 22
}

template <class Config>
Config swing_up(std::int64_t steps) {
  Config config;
  config.total_steps = steps;
  config.replay.capacity = steps;
  config.trainer.lr = 1e-3;
  config.trainer.batch_size = 100;
  config.policy.hidden = {64, 64};
  return config;
}

// The best are at -140 to -160, with a standard error of 9; random actions reach -1215.

TEST_CASE("off-policy learning: SAC swings Pendulum up") {
  auto config = swing_up<sac_config>(8000);
  config.trainer.initial_ent_coef = 0.5;
  CHECK(median_return(config) >= -200);
}

TEST_CASE("off-policy learning: TD3 swings Pendulum up") {
  auto config = swing_up<td3_config>(12'000);
  config.collection.learning_starts = 4000;
  config.trainer.gamma = 0.98;
  config.noise = {.kind = noise_kind::normal, .std = 0.4};
  CHECK(median_return(config) >= -200);
}

}  // namespace
}  // namespace troupe
