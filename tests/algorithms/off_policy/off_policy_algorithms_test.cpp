// DQN, SAC and TD3 as whole runs from their configurations.

#include "actors/torch.hpp"

#include <sstream>

#include "algorithms/dqn/dqn.hpp"
#include "algorithms/sac/sac.hpp"
#include "algorithms/td3/td3.hpp"
#include "tests/algorithms/off_policy/stage.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using namespace testing;

/// 440 environment steps, of which 140 are trained on: an episode of Pendulum ends at 400.
template <class Config>
Config short_run() {
  Config config;
  config.env.n_envs = 2;
  config.total_steps = 440;
  config.collection = {.learning_starts = 298, .train_freq = 10, .gradient_steps = 3};
  config.replay.capacity = 150;
  config.trainer.batch_size = 8;
  config.policy.hidden = {8};
  config.evaluation = {.every_steps = 0, .episodes = 1, .final_episodes = 1};
  config.log.episodes = 1;
  config.deterministic = true;
  return config;
}

/// The numbers of a column of progress.csv, where there are any.
std::vector<double> column_of(const training_summary& run, const std::string& name) {
  std::stringstream csv(read_text(std::filesystem::path(run.run_directory) / "progress.csv"));
  std::vector<std::string> names;
  std::vector<double> numbers;
  for (std::string line; std::getline(csv, line);) {
    std::stringstream cells(line);
    std::size_t i = 0;
    const bool heading = names.empty();
    for (std::string cell; std::getline(cells, cell, ','); ++i) {
      if (heading) names.push_back(cell);
      if (!heading && names.at(i) == name && !cell.empty()) numbers.push_back(std::stod(cell));
    }
  }
  return numbers;
}

}  // namespace

TEMPLATE_TEST_CASE("off-policy algorithm: a linear learning rate, also in pieces", "", dqn_config,
                   sac_config, td3_config, ddpg_config) {
  stage on;
  auto config = short_run<TestType>();
  config.checkpoint.every_updates = 2;
  const auto constant = on.run(trainable_of(config), "constant").summary.value();
  config.trainer.lr_schedule = annealing::linear;
  const auto whole = on.run(trainable_of(config), "whole").summary.value();
  const auto pieces = on.run_in_pieces(trainable_of(config), "pieces", 2).summary.value();
  CHECK(pieces.resumed_from_step > 0);
  CHECK(pieces.weights_sha256 == whole.weights_sha256);
  CHECK(constant.weights_sha256 != whole.weights_sha256);

  const auto steps = column_of(whole, "time/total_timesteps");
  const auto rates = column_of(whole, "train/learning_rate");
  REQUIRE(!rates.empty());
  for (std::size_t i = 0; i < rates.size(); ++i) {
    CHECK(rates[i] == Approx(config.trainer.lr * (1 - steps.at(i) / 440)).margin(1e-12));
  }
  for (const auto rate : column_of(constant, "train/learning_rate")) {
    CHECK(rate == Approx(config.trainer.lr));
  }
}

}  // namespace troupe
