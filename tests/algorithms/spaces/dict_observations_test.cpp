// Observations of a Dict with an image and a vector that are both needed.

#include "actors/torch/torch.hpp"

#include <algorithm>
#include <cmath>

#include "actors/gradients/torch_graph.hpp"
#include "actors/networks/model_file.hpp"
#include "actors/worlds/registry.hpp"
#include "algorithms/off_policy/critic_fit.hpp"
#include "algorithms/off_policy/dqn/dqn.hpp"
#include "algorithms/off_policy/sac/learner.hpp"
#include "algorithms/off_policy/sac/sac.hpp"
#include "algorithms/off_policy/td3/learner.hpp"
#include "algorithms/off_policy/td3/td3.hpp"
#include "algorithms/on_policy/a2c/a2c.hpp"
#include "algorithms/on_policy/ppo/ppo.hpp"
#include "algorithms/run/initial_model.hpp"
#include "runtime/base/log.hpp"
#include "tests/algorithms/learner_parts.hpp"
#include "tests/algorithms/spaces/hidden_rule.hpp"
#include "tests/algorithms/stage.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using namespace testing;

void register_all() {
  static const bool once = [] {
    const auto add = [](const char* id, hidden_rule::options with) {
      register_environment(id, [with] { return std::make_unique<hidden_rule>(with); });
    };
    add("HiddenRule-v0", {});
    add("HiddenRuleInterleaved-v0", {.interleaved = true});
    add("HiddenRuleDark-v0", {.shows_camera = false});
    add("HiddenRuleMute-v0", {.shows_rule = false});
    add("HiddenRuleContinuous-v0", {.continuous = true});
    return true;
  }();
  REQUIRE(once);
}

const cnn_options small_cnn{.channels = {16}, .kernels = {4}, .strides = {2}, .features = 32};

template <class Config>
Config run_on(const char* id) {
  register_all();
  Config config;
  config.env.id = id;
  config.policy.cnn = small_cnn;
  config.policy.hidden = {64, 64};
  config.evaluation = {.every_steps = 0, .final_episodes = 200};
  config.deterministic = true;
  return config;
}

ppo_config ppo_on(const char* id) {
  auto config = run_on<ppo_config>(id);
  config.env.n_envs = 16;
  config.rollout.n_steps = 32;
  config.total_steps = 16 * 32 * 30;
  config.trainer.lr = 3e-3;
  config.trainer.batch_size = 128;
  config.trainer.n_epochs = 4;
  return config;
}

template <class Config>
Config off_policy_on(const char* id, std::int64_t steps) {
  auto config = run_on<Config>(id);
  config.total_steps = steps;
  config.replay.capacity = steps;
  config.collection = {.learning_starts = 200, .train_freq = 4, .gradient_steps = 2};
  config.trainer.lr = 3e-3;
  config.trainer.batch_size = 64;
  return config;
}

dqn_config dqn_on(const char* id) {
  auto config = off_policy_on<dqn_config>(id, 4000);
  config.trainer.target_update_interval = 100;
  return config;
}

run_summary run_of(const auto& config) {
  log::set_level("off");
  stage on;
  const auto summary = on.run(algorithm_with(config), "run").summary.value();
  log::set_level("info");
  return summary;
}

TEST_CASE("dict observations: PPO needs the image and the vector, and uses both", "[learning]") {
  CHECK(run_of(ppo_on("HiddenRule-v0")).eval_mean >= 0.95);
  CHECK(run_of(ppo_on("HiddenRuleInterleaved-v0")).eval_mean >= 0.95);
  CHECK(run_of(ppo_on("HiddenRuleDark-v0")).eval_mean <= 0.65);
  CHECK(run_of(ppo_on("HiddenRuleMute-v0")).eval_mean <= 0.65);
}

TEST_CASE("dict observations: A2C learns from an image and a vector", "[learning]") {
  auto config = run_on<a2c_config>("HiddenRule-v0");
  config.env.n_envs = 16;
  config.rollout.n_steps = 8;
  config.total_steps = 16 * 8 * 300;
  config.trainer.lr = 3e-3;
  CHECK(run_of(config).eval_mean >= 0.95);
}

TEST_CASE("dict observations: DQN learns from an image and a vector", "[learning]") {
  CHECK(run_of(dqn_on("HiddenRule-v0")).eval_mean >= 0.95);
}

// The best is 1. An action that ignores either part gets 0.2 at most.
TEST_CASE("dict observations: SAC learns from an image and a vector", "[learning]") {
  CHECK(run_of(off_policy_on<sac_config>("HiddenRuleContinuous-v0", 4000)).eval_mean >= 0.7);
}

TEST_CASE("dict observations: TD3 learns from an image and a vector", "[learning]") {
  CHECK(run_of(off_policy_on<td3_config>("HiddenRuleContinuous-v0", 4000)).eval_mean >= 0.7);
}

// ---- learners

const network_shape dict_shape{
    .obs_size = 66, .continuous_size = 2, .parts = {{"camera", 0, 64, {1, 8, 8}}, {"rule", 64, 2}}};

transition_batch random_batch(int rows, std::uint64_t seed) {
  action_random random(seed);
  transition_batch batch;
  batch.resize(rows, dict_shape);
  for (auto* obs : {&batch.obs, &batch.next_obs}) {
    for (auto& x : *obs) x = static_cast<float>(random.below(256));
  }
  for (auto& x : batch.action) x = static_cast<float>(2 * random.uniform() - 1);
  random.fill_normal(batch.reward);
  std::ranges::fill(batch.terminated, 0.0f);
  std::ranges::fill(batch.discount, 0.9f);
  return batch;
}

double size_of(std::span<const float> numbers) {
  double sum = 0;
  for (const float x : numbers) sum += std::abs(x);
  return sum;
}

/// The gradients of actor and critics reach the extractors of both.
template <class Learner>
void check_gradients(auto options) {
  options.network = {.cnn = small_cnn, .hidden = {16}, .ortho_init = false};
  Learner learner(dict_shape, options, 1);
  const auto before = parts_of(learner);
  learner.update(random_batch(16, 2));
  const auto& critics = learner.critics();
  const auto offset = critics.extractor_offset();
  CHECK(size_of(learner.critic_gradient().subspan(offset)) > 0);
  CHECK(size_of(learner.actor_gradient().subspan(learner.policy().network().parameter_count())) >
        0);
  const auto after = parts_of(learner);
  const auto has_moved = [&](const auto& was, const auto& is, std::size_t from) {
    return !std::equal(was.begin() + from, was.end(), is.begin() + from, is.end());
  };
  CHECK(has_moved(before["critics"], after["critics"], offset));
  CHECK(has_moved(before["actor"], after["actor"], learner.policy().network().parameter_count()));

  // The slope of the critics' loss, in double.
  const auto batch = random_batch(8, 3);
  const std::vector<float> y{-1.0f, -0.7f, -0.4f, -0.1f, 0.1f, 0.4f, 0.7f, 1.0f};
  torch_graph g(detail::device_link("cpu"), at::kDouble);
  const auto loss_of = [&](const parameter_block& parameters) {
    g.clear();
    const auto q = critics.values(g.constant(batch.obs, dict_shape.obs_size),
                                  g.constant(batch.action, dict_shape.continuous_size), parameters);
    return fit_critics(q, g.constant(y, 1), {}).loss;
  };
  std::vector<float> block(after["critics"]), gradient(block.size());
  g.backward(loss_of({block, gradient}));
  constexpr float step = 1.0f / (1 << 19);
  int wrong = 0, moving = 0;
  for (std::size_t i = 0; i < block.size(); i += 7) {
    const float kept = block[i];
    const auto loss_at = [&](float parameter) {
      block[i] = parameter;
      return g.number(loss_of({block}));
    };
    const float up = kept + step,
                down = kept - step;  // rounded, so that they differ by less or more
    const double slope = (loss_at(up) - loss_at(down)) / (double(up) - double(down));
    block[i] = kept;
    wrong += std::abs(gradient[i] - slope) > 1e-3 * (1 + std::abs(slope)) ? 1 : 0;
    moving += gradient[i] != 0 && i >= offset ? 1 : 0;
  }
  CHECK(wrong <= 2);  // a ReLU's kink can lie within a step
  CHECK(moving > 10);
}

TEST_CASE("dict observations: SAC's and TD3's gradients reach the encoders of actor and critics") {
  check_gradients<sac_learner>(sac_options{});
  td3_options options;
  options.policy_delay = 1;
  check_gradients<td3_learner>(options);
}

/// A run that is stopped and resumed has the same weights, and its model file begins another run.
void check_files(auto config, const std::string& image_tensor) {
  log::set_level("off");
  config.checkpoint.every_updates = 2;
  config.evaluation.final_episodes = 4;
  stage on;
  const auto whole = on.run(algorithm_with(config), "whole").summary.value();
  const auto pieces = on.run_in_pieces(algorithm_with(config), "pieces", 3).summary.value();
  CHECK(pieces.weights_sha256 == whole.weights_sha256);
  const auto file = run_directory::open(whole.run_directory).last_model();
  const auto saved = load_model(file);
  CHECK(to_string(saved.shape).starts_with("obs 66 (camera 1x8x8, rule 2), "));
  const auto layout = layout_of(saved.shape, saved.options);
  CHECK(layout.count == saved.parameters.numel());
  CHECK(std::ranges::count(layout.tensors, image_tensor, &tensor_place::name) == 1);

  auto begun = algorithm_with(config);
  begun.settings.init = read_initial_model(file);
  require_initial_model(begun);
  begun.settings.env.id = "HiddenRuleInterleaved-v0";
  CHECK_THROWS_WITH(require_initial_model(begun),
                    Catch::Contains("its network is for obs 66 (camera 1x8x8, rule 2)"));
  log::set_level("info");
}

TEST_CASE("dict observations: models keep the parts, and runs go on where they stopped") {
  const std::string tensor = "features_extractor.extractors.camera.cnn.0.weight";
  auto ppo = ppo_on("HiddenRule-v0");
  ppo.total_steps = 16 * 32 * 6;
  check_files(ppo, tensor);
  auto dqn = dqn_on("HiddenRule-v0");
  dqn.total_steps = 240;
  check_files(dqn, tensor);
  auto sac = off_policy_on<sac_config>("HiddenRuleContinuous-v0", 240);
  check_files(sac, tensor);
  check_files(off_policy_on<td3_config>("HiddenRuleContinuous-v0", 240), tensor);
}

TEST_CASE("dict observations: what has no encoder is refused by name") {
  using Catch::Contains;
  stage on;
  auto config = ppo_on("HiddenRule-v0");
  config.env.normalize_obs = true;
  CHECK_THROWS_WITH(on.run(algorithm_with(config), "run"),
                    Contains("expected normalize_obs of false, for images"));
  config.env.normalize_obs = false;
  config.policy.cnn.kernels = {9};
  CHECK_THROWS_WITH(
      on.run(algorithm_with(config), "run"),
      Contains("observation \"camera\": policy.cnn: an image of 8x8 with 1 channel is too small"));
  config.policy.cnn = small_cnn;
  config.policy.backend = gradient_backend::fused;
  CHECK_THROWS_WITH(on.run(algorithm_with(config), "run"),
                    Contains("policy.backend fused: convolutions have no fused gradient"));
  config.policy.backend = gradient_backend::automatic;
  config.policy.body = network_body::cnn;
  CHECK_THROWS_WITH(on.run(algorithm_with(config), "run"),
                    Contains("policy.kind cnn: expected an environment that shows an image"));
  config.env.id = "CartPole-v1";
  config.policy.body = network_body::multi_input;
  CHECK_THROWS_WITH(on.run(algorithm_with(config), "run"),
                    Contains("policy.kind multi_input: expected an environment with observations "
                             "of Dict or Tuple, got obs 4, discrete 2"));
  auto sac = off_policy_on<sac_config>("HiddenRuleContinuous-v0", 240);
  sac.policy.use_sde = true;
  CHECK_THROWS_WITH(on.run(algorithm_with(sac), "run"),
                    Contains("use_sde of true, expected false where observations have images"));
  CHECK(std::filesystem::is_empty(on.folder.path));
}

TEST_CASE("dict observations: multi_input without images is the mlp over all parts") {
  log::set_level("off");
  stage on;
  ppo_config config;
  config.env.id = "Blackjack-v1";
  config.rollout.n_steps = 64;
  config.total_steps = 128;
  config.policy.hidden = {8};
  config.evaluation = {.every_steps = 0, .final_episodes = 2};
  config.deterministic = true;
  const auto plain = on.run(algorithm_with(config), "mlp").summary.value();
  config.policy.body = network_body::multi_input;
  const auto named = on.run(algorithm_with(config), "multi_input").summary.value();
  CHECK(plain.weights_sha256 == named.weights_sha256);
  log::set_level("info");
}

}  // namespace
}  // namespace troupe
