// DQN, SAC and TD3 as whole runs from their configurations.

#include "actors/torch/torch.hpp"

#include <set>

#include "actors/networks/acting_network.hpp"
#include "actors/networks/model_file.hpp"
#include "actors/recorder/run_directory.hpp"
#include "algorithms/off_policy/dqn/dqn.hpp"
#include "algorithms/off_policy/sac/sac.hpp"
#include "algorithms/off_policy/td3/td3.hpp"
#include "tests/algorithms/batch_tensors.hpp"
#include "tests/algorithms/progress_column.hpp"
#include "tests/algorithms/stage.hpp"
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

}  // namespace

TEMPLATE_TEST_CASE("off-policy algorithm: a learning rate falls linearly", "", dqn_config,
                   sac_config, td3_config, ddpg_config) {
  stage on;
  auto config = short_run<TestType>();
  config.replay.n_step = 3;
  const auto constant = on.run(algorithm_with(config), "constant").summary.value();
  config.trainer.lr_schedule = annealing::linear;
  const auto whole = on.run(algorithm_with(config), "whole").summary.value();
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

TEMPLATE_TEST_CASE("off-policy algorithm: prioritised and normalised", "", dqn_config, sac_config,
                   td3_config) {
  stage on;
  std::set<std::string> weights;
  for (const bool prioritised : {false, true}) {
    for (const bool normalised : {false, true}) {
      CAPTURE(prioritised, normalised);
      const auto name = std::to_string(prioritised) + std::to_string(normalised);
      auto config = short_run<TestType>();
      if (prioritised) config.replay.prioritised = priority_options{};
      config.env.normalize_obs = config.env.normalize_reward = normalised;
      const auto whole = on.run(algorithm_with(config), name).summary.value();
      weights.insert(whole.weights_sha256);

      const auto model = load_model(std::filesystem::path(whole.run_directory) / "last_model");
      CHECK(model.options.normalize_obs == normalised);
      CHECK(single_network(model.shape, model.options).parameter_count() ==
            model.parameters.numel());
      if (!normalised) continue;
      const auto scale = model.parameters.narrow(0, model.parameters.numel() - model.shape.obs_size,
                                                 model.shape.obs_size);
      CHECK((scale > 0).all().template item<bool>());
      CHECK((scale != 1).all().template item<bool>());
    }
  }
  CHECK(weights.size() == 4);
}

TEST_CASE("off-policy algorithm: a model's network sees observations by its own statistics") {
  const network_shape shape{.obs_size = 3, .continuous_size = 2};
  network_options options{.hidden = {8}, .kind = network_kind::squashed};
  single_network plain(shape, options);
  options.normalize_obs = true;
  single_network normalised(shape, options);
  REQUIRE(normalised.parameter_count() == plain.parameter_count() + 6);
  const auto parameters = at::linspace(-1, 1, plain.parameter_count(), at::kFloat);
  plain.load_parameters(parameters);
  const auto scale = at::tensor({1.0f, 2.0f, 3.0f, 0.5f, 2.0f, 100.0f});
  normalised.load_parameters(at::cat({parameters, scale}));
  const std::vector<float> raw = {2, 3, 4}, seen = {0.5, 2, 10};  // the last is cut
  std::vector<float> a(2), b(2);
  action_random random(1);
  plain.act(seen.data(), 1, random, true, {.value = a.data()});
  normalised.act(raw.data(), 1, random, true, {.value = b.data()});
  CHECK(a == b);
}

TEST_CASE("off-policy algorithm: DQN plain, double and dueling, each told by its model file") {
  stage on;
  std::set<std::string> weights;
  for (const bool double_q : {false, true}) {
    for (const bool dueling : {false, true}) {
      CAPTURE(double_q, dueling);
      const auto name = std::to_string(double_q) + std::to_string(dueling);
      auto config = short_run<dqn_config>();
      config.trainer.double_q = double_q;
      config.trainer.dueling = dueling;
      config.trainer.target_update_interval = 80;
      config.trainer.lr = 0.05;  // so that the networks soon choose differently
      const auto whole = on.run(algorithm_with(config), name).summary.value();
      weights.insert(whole.weights_sha256);

      const auto model = load_model(std::filesystem::path(whole.run_directory) / "last_model");
      CHECK(model.options.kind ==
            (dueling ? network_kind::dueling_q_values : network_kind::q_values));
      // What the evaluator and `troupe eval` play with chooses as what the collectors do.
      acting_policy acted(model.shape, model.options,
                          dueling ? network_kind::dueling_q_values : network_kind::q_values);
      action_random random(1);
      acted.initialise(random);
      CHECK(std::ssize(acted.parameters()) == model.parameters.numel());
      single_network played(model.shape, model.options);
      played.load_parameters(detail::tensor_of_block(acted.parameters()));
      std::vector<float> obs(4 * 50);
      random.fill_normal(obs);
      std::vector<std::int64_t> a(50), b(50);
      played.act(obs.data(), 50, random, true, {.choice = a.data()});
      acted.act(obs.data(), 50, random, true, {.choice = b.data()});
      CHECK(a == b);
      CHECK(std::ranges::count(a, 0) % 50 != 0);
    }
  }
  CHECK(weights.size() == 4);
}

TEST_CASE("off-policy algorithm: DQN trains a convolution policy, and plays it from its file") {
  stage on;
  auto config = short_run<dqn_config>();
  config.env = {.id = "CatchSmall-v0", .n_envs = 2, .frame_stack = 2};
  config.policy.cnn = {.channels = {4}, .kernels = {8}, .strides = {7}, .features = 8};
  config.trainer.dueling = true;
  config.checkpoint.every_updates = 3;
  const auto whole = on.run(algorithm_with(config), "whole").summary.value();
  const auto pieces = on.run_in_pieces(algorithm_with(config), "pieces", 3).summary.value();
  CHECK(pieces.weights_sha256 == whole.weights_sha256);
  const auto saved = load_model(run_directory::open(whole.run_directory).last_model());
  CHECK(to_string(saved.shape, saved.options) ==
        "image 2x36x36, discrete 3, cnn 4x8/7-8 dueling_q_values");
  const evaluator_options playing{.environments = environments_of(config.env, 2),
                                  .shape = saved.shape,
                                  .network = saved.options};
  const auto seen = evaluator(playing).evaluate(weights{1, saved.parameters, {}}, 4, 1);
  CHECK(seen.returns.size() == 4);
}

TEST_CASE("off-policy algorithm: what SAC can't is refused before anything is made") {
  stage on;
  auto config = short_run<sac_config>();
  config.env.id = "Pendulum-v1";
  config.policy.body = network_body::cnn;
  CHECK_THROWS_WITH(
      on.run(algorithm_with(config), "cnn"),
      Catch::Contains("policy.kind cnn: expected an environment that shows an image"));
  CHECK(std::filesystem::is_empty(on.folder.path));
}

}  // namespace troupe
