#include "actors/torch/torch.hpp"

#include "actors/networks/actor_critic.hpp"
#include "actors/networks/model_file.hpp"
#include "actors/recorder/run_directory.hpp"
#include "algorithms/on_policy/ppo/ppo.hpp"
#include "runtime/base/log.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

/// Two stacked pictures of the small Catch and a small network: 0.2 s of CPU.
ppo_config catch_config(training_mode mode) {
  ppo_config config;
  config.env = {.id = "CatchSmall-v0", .n_envs = 4, .frame_stack = 2};
  config.mode = mode;
  config.rollout = {.n_steps = 18};
  config.total_steps = 5 * 4 * 18;
  config.trainer.batch_size = 24;
  config.trainer.n_epochs = 2;
  config.policy.cnn = {.channels = {4, 4}, .kernels = {8, 3}, .strides = {4, 2}, .features = 16};
  config.evaluation = {.every_steps = 0, .final_episodes = 2};
  config.checkpoint.every_updates = 2;
  config.deterministic = true;
  return config;
}

TEST_CASE("train: a convolution policy trains, is saved, and the same seed gives the same") {
  log::set_level("off");
  for (const auto mode : {training_mode::sync, training_mode::async}) {
    temporary_folder folder;
    const auto config = catch_config(mode);
    const auto one = train(config, {.root = folder.path / "one"}, {}).summary.value();
    const auto other = train(config, {.root = folder.path / "other"}, {}).summary.value();
    CHECK(one.steps == 360);
    CHECK(one.weights_sha256 == other.weights_sha256);
    const auto saved = load_model(run_directory::open(one.run_directory).last_model());
    CHECK(to_string(saved.shape, saved.options) == "image 2x36x36, discrete 3, cnn 4x8/4-4x3/2-16");
    CHECK(weights_sha256(saved.parameters) == one.weights_sha256);
    const actor_critic untrained(saved.shape, config.network(), config.seed);
    CHECK_FALSE(at::equal(untrained.parameters(), saved.parameters));
  }
  log::set_level("info");
}

TEST_CASE("train: wrappers of the configuration are those of its environments") {
  log::set_level("off");
  temporary_folder folder;
  ppo_config config;
  config.env = {
      .id = "Pendulum-v1", .max_episode_steps = 7, .frame_stack = 3, .rescale_action = true};
  config.rollout.n_steps = 28;
  config.total_steps = 28;
  config.policy.hidden = {8};
  config.evaluation = {.every_steps = 0, .final_episodes = 2};
  const auto summary = train(config, {.root = folder.path}, {}).summary.value();
  const auto saved = load_model(run_directory::open(summary.run_directory).last_model());
  CHECK(to_string(saved.shape) == "obs 9, continuous 1");
  CHECK(summary.eval_mean > -7 * 16.3);  // no step costs more than 16.27
  config.env.id = "Blackjack-v1";
  CHECK_THROWS_WITH(train(config, {.root = folder.path}, {}),
                    Catch::Contains("Blackjack-v1: expected a Box to stack"));
  config.env.id = "CartPole-v1";
  CHECK_THROWS_WITH(train(config, {.root = folder.path}, {}),
                    Catch::Contains("CartPole-v1: expected a Box to rescale actions"));
  log::set_level("info");
}

TEST_CASE("train: convolutions without an image are refused before anything is made") {
  temporary_folder folder;
  ppo_config config;
  config.policy.body = network_body::cnn;
  CHECK_THROWS_WITH(train(config, {.root = folder.path}, {}),
                    Catch::Contains("policy.kind cnn: expected an environment that shows an image, "
                                    "got obs 4, discrete 2"));
  CHECK(std::filesystem::is_empty(folder.path));
}

}  // namespace
}  // namespace troupe
