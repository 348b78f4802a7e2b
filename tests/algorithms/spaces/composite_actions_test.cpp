// Actions of MultiDiscrete, MultiBinary, Tuple and Dict, as whole runs of PPO, A2C and REINFORCE,
// and what the algorithms refuse.

#include "actors/torch/torch.hpp"

#include "actors/networks/model_file.hpp"
#include "actors/worlds/registry.hpp"
#include "algorithms/off_policy/dqn/dqn.hpp"
#include "algorithms/off_policy/sac/sac.hpp"
#include "algorithms/off_policy/td3/td3.hpp"
#include "algorithms/on_policy/a2c/a2c.hpp"
#include "algorithms/on_policy/ppo/ppo.hpp"
#include "algorithms/on_policy/reinforce/reinforce.hpp"
#include "runtime/base/log.hpp"
#include "tests/algorithms/spaces/shown_action.hpp"
#include "tests/algorithms/stage.hpp"
#include "tests/message_of.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using namespace testing;

/// Each part has another number of options and another first one, and the kinds are mixed, so that
/// a part in another's place or without its start is never right.
const std::vector<std::pair<std::string, space>>& action_spaces() {
  static const std::vector<std::pair<std::string, space>> all = {
      {"Discrete", spaces::discrete(4, 5)},
      {"MultiDiscrete", spaces::multi_discrete({3, 2, 4}, {0, -7, 10})},
      {"MultiBinary", spaces::multi_binary(4)},
      {"TupleOfIntegers", spaces::tuple({spaces::multi_binary(2), spaces::discrete(3, 1),
                                         spaces::multi_discrete({2, 3})})},
      {"TupleWithBoxes",
       spaces::tuple({spaces::box(-1, 1, {1}), spaces::multi_binary(2),
                      spaces::dict({{"b", spaces::discrete(3, 2)}, {"a", spaces::box(0, 1, {2})}}),
                      spaces::discrete(2)})}};
  return all;
}

std::string id_of(const std::string& kind) { return "ShownAction" + kind + "-v0"; }

void register_all() {
  static const bool once = [] {
    for (const auto& [kind, actions] : action_spaces()) {
      register_environment(id_of(kind),
                           [actions = actions] { return std::make_unique<shown_action>(actions); });
    }
    return true;
  }();
  REQUIRE(once);
}

template <class Config>
Config short_on_policy(const std::string& kind) {
  register_all();
  Config config;
  config.env = {.id = id_of(kind), .n_envs = 16};
  config.policy.hidden = {32};
  config.deterministic = true;
  config.evaluation = {.every_steps = 0, .final_episodes = 200};
  return config;
}

ppo_config ppo_on(const std::string& kind) {
  auto config = short_on_policy<ppo_config>(kind);
  config.rollout.n_steps = 32;
  config.total_steps = 16 * 32 * 80;
  config.trainer.lr = 3e-3;
  config.trainer.batch_size = 128;
  config.trainer.n_epochs = 4;
  return config;
}

a2c_config a2c_on(const std::string& kind) {
  auto config = short_on_policy<a2c_config>(kind);
  config.rollout.n_steps = 8;
  config.total_steps = 16 * 8 * 600;
  config.trainer.lr = 5e-3;
  return config;
}

/// The mean return of the last policy. Random actions repeat about half of the numbers.
template <class Config>
double final_return(const Config& config) {
  log::set_level("off");
  stage on;
  const auto mean = on.run(algorithm_with(config), "run").summary.value().eval_mean;
  log::set_level("info");
  return mean;
}

TEST_CASE("composite actions: PPO repeats each kind of action that it is shown", "[learning]") {
  for (const auto& [kind, actions] : action_spaces()) {
    CAPTURE(kind);
    CHECK(final_return(ppo_on(kind)) >= 0.95);
  }
}

TEST_CASE("composite actions: A2C repeats each kind of action that it is shown", "[learning]") {
  for (const auto& [kind, actions] : action_spaces()) {
    CAPTURE(kind);
    CHECK(final_return(a2c_on(kind)) >= 0.95);
  }
}

TEST_CASE("composite actions: REINFORCE repeats actions of a Tuple", "[learning]") {
  auto config = short_on_policy<reinforce_config>("TupleOfIntegers");
  config.rollout.n_steps = 32;
  config.total_steps = 16 * 32 * 100;
  config.trainer.lr = 1e-2;
  CHECK(final_return(config) >= 0.95);
}

TEST_CASE("composite actions: both backends and both modes take a Tuple with boxes") {
  log::set_level("off");
  for (const auto mode : {training_mode::sync, training_mode::async}) {
    auto config = ppo_on("TupleWithBoxes");
    config.mode = mode;
    config.total_steps = 16 * 32 * 6;
    config.checkpoint.every_updates = 2;
    stage on;
    const auto fused = on.run(algorithm_with(config), "fused").summary.value();
    const auto saved = load_model(run_directory::open(fused.run_directory).last_model());
    CHECK(to_string(saved.shape) ==
          "obs 10, continuous 3 and multi-discrete 3x2 and multi-binary 2");
    const auto pieces = on.run_in_pieces(algorithm_with(config), "pieces", 3).summary.value();
    if (mode == training_mode::sync) CHECK(pieces.weights_sha256 == fused.weights_sha256);

    config.policy.backend = gradient_backend::libtorch;
    const auto autograd = on.run(algorithm_with(config), "libtorch").summary.value();
    const auto other = load_model(run_directory::open(autograd.run_directory).last_model());
    const auto difference = (other.parameters - saved.parameters).abs().max().item<float>();
    if (mode == training_mode::sync) CHECK(difference < 1e-3);
  }
  log::set_level("info");
}

task<loops::verdict> keep(std::vector<action_histogram>& to, run_control& control) {
  to.push_back(control.actions());
  co_return loops::verdict::go_on;
}

TEST_CASE("composite actions: the histogram of an update counts each number of a Tuple") {
  log::set_level("off");
  auto config = ppo_on("TupleWithBoxes");
  config.total_steps = 16 * 32;
  std::vector<action_histogram> seen;
  run_options options;
  options.metrics = std::make_shared<metrics_registry>();
  options.callbacks.on_update = [&](loops::progress, run_control& control) {
    return keep(seen, control);
  };
  temporary_folder folder;
  train(algorithm_with(config), {.root = folder.path}, std::move(options));
  log::set_level("info");
  REQUIRE(seen.size() == 1);
  std::vector<std::size_t> options_of;
  for (const auto& each : seen[0].counts()) {
    options_of.push_back(each.size());
    CHECK(std::accumulate(each.begin(), each.end(), std::int64_t{0}) == 16 * 32);
  }
  const std::size_t bins = action_histogram::bins;
  CHECK(options_of == std::vector<std::size_t>{3, 2, 2, 2, bins, bins, bins});
  CHECK(seen[0].low(4) == -1);
  CHECK(seen[0].low(5) == 0);
}

TEST_CASE("composite actions: DQN gives the numbers of a Discrete that doesn't start at 0") {
  register_all();
  dqn_config config;
  config.env.id = id_of("Discrete");
  config.total_steps = 4000;
  config.collection = {.learning_starts = 200, .train_freq = 4, .gradient_steps = 2};
  config.replay.capacity = 4000;
  config.trainer.lr = 3e-3;
  config.trainer.batch_size = 32;
  config.trainer.target_update_interval = 100;
  config.policy.hidden = {32};
  config.evaluation = {.every_steps = 0, .final_episodes = 100};
  config.deterministic = true;
  CHECK(final_return(config) >= 0.95);
}

template <class Config>
std::string refusal_of(const std::string& kind) {
  register_all();
  Config config;
  config.env.id = id_of(kind);
  temporary_folder folder;
  const auto message =
      testing::message_of([&] { train(algorithm_with(config), {.root = folder.path}, {}); });
  CHECK(std::filesystem::is_empty(folder.path));
  return message;
}

TEST_CASE("composite actions: what an algorithm doesn't take is refused by name") {
  using Catch::Contains;
  CHECK_THAT(refusal_of<dqn_config>("MultiDiscrete"),
             Contains("dqn: expected an environment with actions of Discrete, got "
                      "ShownActionMultiDiscrete-v0, whose are MultiDiscrete([3 2 4]"));
  CHECK_THAT(refusal_of<dqn_config>("MultiBinary"), Contains("whose are MultiBinary(4)"));
  CHECK_THAT(refusal_of<sac_config>("TupleWithBoxes"),
             Contains("sac: expected an environment with actions of Box, got "
                      "ShownActionTupleWithBoxes-v0, whose are Tuple("));
  CHECK_THAT(refusal_of<td3_config>("MultiDiscrete"), Contains("td3: expected an environment"));
  auto config = ppo_on("TupleWithBoxes");
  config.policy.use_sde = true;
  stage on;
  CHECK_THROWS_WITH(on.run(algorithm_with(config), "sde"),
                    Contains("use_sde of true, expected false where actions are discrete"));
}

}  // namespace
}  // namespace troupe
