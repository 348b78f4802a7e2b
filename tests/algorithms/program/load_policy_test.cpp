#include "actors/torch/torch.hpp"

#include "algorithms/run/load_policy.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>

#include "actors/environments/multi_agent_environment.hpp"
#include "actors/networks/actor_critic.hpp"
#include "actors/networks/model_file.hpp"
#include "actors/worlds/registry.hpp"
#include "algorithms/program/built_in_algorithms.hpp"
#include "algorithms/program/commands.hpp"
#include "algorithms/program/context.hpp"
#include "algorithms/run/train.hpp"
#include "runtime/base/log.hpp"
#include "runtime/config/config.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/message_of.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;

/// What an agent saw, and what it then did.
struct seen_action {
  std::size_t agent = 0;
  std::vector<float> obs = {}, mask = {};
  std::vector<std::int64_t> integers = {};
  std::vector<float> floats = {};
};

/// What the environments of this file have been told, in an evaluation.
std::vector<seen_action>& recorded() {
  static std::vector<seen_action> all;
  return all;
}

constexpr std::int64_t length = 40;

/// Shows random numbers on three scales, and writes down the actions.
class recording final : public environment {
 public:
  recording(std::string id, space actions) : id_(std::move(id)), actions_(std::move(actions)) {}

  env_spec spec() const override {
    return {.id = id_,
            .observation_space = spaces::box(-100.0f, 100.0f, {3}),
            .action_space = actions_,
            .max_episode_steps = length};
  }
  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override {
    if (seed) random_ = action_random(*seed);
    show(obs);
  }
  step_result step(action_view action, std::span<float> obs) override {
    const auto integers = action.parts();
    const auto floats = action.floats();
    recorded().push_back({.obs = shown_,
                          .integers = {integers.begin(), integers.end()},
                          .floats = {floats.begin(), floats.end()}});
    show(obs);
    return {.reward = static_cast<double>(obs[0])};
  }

 private:
  void show(std::span<float> obs) {
    shown_.clear();
    for (const float scale : {1.0f, 10.0f, 0.1f})
      shown_.push_back(scale * static_cast<float>(random_.uniform() * 2 - 1));
    std::ranges::copy(shown_, obs.begin());
  }

  std::string id_;
  space actions_;
  action_random random_{0};
  std::vector<float> shown_;
};

/// Two agents with observations of different sizes, of which each step allows some choices.
class recording_agents final : public multi_agent_environment {
 public:
  env_spec spec() const override {
    const auto numbers = [](std::int64_t n) { return spaces::box(-1.0f, 1.0f, {n}); };
    return with_joint_spaces({.id = "RecordingAgents-v0",
                              .max_episode_steps = length,
                              .agents = {{"left", numbers(2), spaces::discrete(3)},
                                         {"right", numbers(2), spaces::discrete(3)}},
                              .action_masks = true});
  }
  void begin(std::optional<std::uint64_t> seed, joint_observation obs) override {
    if (seed) random_ = action_random(*seed);
    steps_ = 0;
    show(obs);
  }
  void act(joint_action actions, joint_observation obs, std::span<agent_step> results) override {
    for (std::size_t i = 0; i < 2; ++i) {
      auto seen = shown_[i];
      seen.integers = {actions[i].discrete()};
      recorded().push_back(std::move(seen));
      results[i].reward = 1;
      if (++steps_ == 2 * length) results[i].ended = episode_end::terminated;
    }
    if (steps_ == 2 * length) results[0].ended = results[1].ended;
    show(obs);
  }

 private:
  void show(joint_observation obs) {
    shown_.assign(2, {});
    for (std::size_t i = 0; i < 2; ++i) {
      for (auto& number : obs[i]) number = static_cast<float>(random_.uniform() * 2 - 1);
      const auto mask = obs.action_mask(i);
      std::ranges::fill(mask, 1.0f);
      mask[random_.below(3)] = 0.0f;
      shown_[i] = {.agent = i,
                   .obs = {obs[i].begin(), obs[i].end()},
                   .mask = {mask.begin(), mask.end()},
                   .integers = {},
                   .floats = {}};
    }
  }

  action_random random_{0};
  std::int64_t steps_ = 0;
  std::vector<seen_action> shown_;
};

void register_recording() {
  static const bool known = [] {
    register_environment("RecordingChoice-v0", [] {
      return std::make_unique<recording>("RecordingChoice-v0", spaces::discrete(3, 5));
    });
    register_environment("RecordingFloats-v0", [] {
      return std::make_unique<recording>("RecordingFloats-v0",
                                         spaces::box({-2.0f, 0.0f}, {6.0f, 0.5f}));
    });
    register_environment<recording_agents>("RecordingAgents-v0");
    return true;
  }();
  static_cast<void>(known);
}

command::context all_algorithms() {
  return {.program = "troupe", .algorithms = built_in_algorithms(), .environment = ""};
}

using options = std::vector<std::string>;

const options short_run = {"deterministic=true", "evaluation.every_steps=0",
                           "evaluation.final_episodes=1", "policy.hidden=[8]"};

options operator+(options all, const options& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// Trains for a moment in a folder of its own.
class trained {
 public:
  trained(const std::string& algo, const options& more) {
    register_recording();
    log::set_level("off");
    const auto all = all_algorithms();
    const auto what = all.find(algo).configure(load_config({}, short_run + more), {});
    run_ = train(what, {.root = (folder_.path / "runs").string()}, {}).run_directory;
    log::set_level("info");
  }
  const std::string& run() const { return run_; }
  fs::path model() const { return fs::path(run_) / "last_model"; }
  const fs::path& folder() const { return folder_.path; }

 private:
  temporary_folder folder_;
  std::string run_;
};

const options on_policy = {"total_steps=128", "env.n_envs=2", "rollout.n_steps=32"};
const options joint_on_policy =
    on_policy + options{"env.id=RecordingAgents-v0", "trainer.batch_size=32"};
const options off_policy = {"total_steps=200", "collection.learning_starts=100",
                            "trainer.batch_size=8"};

/// Lets `troupe eval` play, and then load_policy act on what was seen there.
void check_acts_as_eval(const std::string& algo, const options& more) {
  INFO(algo);
  const trained of(algo, more);
  recorded().clear();
  REQUIRE(command::eval({.run_directory = of.run(), .episodes = 30, .seed = 3}, all_algorithms()) ==
          0);
  const auto seen = std::exchange(recorded(), {});
  REQUIRE(seen.size() >= 1000);
  auto policy = load_policy(of.run());
  CHECK(policy.algorithm() == algo);
  std::size_t others = 0;
  for (const auto& one : seen) {
    const auto action =
        policy.agents().empty() ? policy.act(one.obs) : policy.act(one.agent, one.obs, one.mask);
    const std::vector<std::int64_t> integers(action.discrete.begin(), action.discrete.end());
    others += integers != one.integers;
    REQUIRE(action.continuous.size() == one.floats.size());
    for (std::size_t i = 0; i < one.floats.size(); ++i) {
      // Rows that are computed together may be summed up in another order.
      others += std::abs(action.continuous[i] - one.floats[i]) > 1e-5f;
    }
  }
  CHECK(others == 0);
}

TEST_CASE("load_policy: acts as eval, with each algorithm for a single agent") {
  const options choice = {"env.id=RecordingChoice-v0"}, floats = {"env.id=RecordingFloats-v0"};
  const options normalized = {"env.normalize_obs=true"};
  check_acts_as_eval("ppo", on_policy + choice + normalized);
  check_acts_as_eval("ppo", on_policy + floats);
  check_acts_as_eval("a2c", on_policy + choice);
  check_acts_as_eval("dqn", off_policy + choice + normalized);
  check_acts_as_eval("sac", off_policy + floats + normalized);
  check_acts_as_eval("td3", off_policy + floats);
}

TEST_CASE("load_policy: acts as eval for each of several agents, with their masks") {
  const options agents = {"env.id=RecordingAgents-v0", "env.n_envs=2"};
  check_acts_as_eval("mappo", joint_on_policy + options{"critic=observations"});
  check_acts_as_eval("qmix", off_policy + agents + options{"mixer.input=observations"});
  check_acts_as_eval("ippo", joint_on_policy + options{"agents.share=false"});
}

TEST_CASE("load_policy: a model file alone is enough, and an older one needs its run") {
  const trained of("sac", off_policy + options{"env.id=RecordingFloats-v0"});
  const std::vector<float> obs{0.5f, -3.0f, 0.02f};
  const auto expected = load_policy(of.run()).act(obs);
  const auto alone = of.folder() / "alone";
  fs::copy_file(of.model(), alone);
  CHECK(load_policy(alone).act(obs).continuous == expected.continuous);

  auto model = load_model(of.model());
  model.algo.clear();
  model.action_space.reset();
  save_model(of.model(), model);
  CHECK(load_policy(of.run()).act(obs).continuous == expected.continuous);
  save_model(alone, model);
  CHECK_THROWS_WITH(load_policy(alone), Contains("expected the action space in the file"));
}

TEST_CASE("load_policy: the seed decides drawn actions, and two policies draw alike") {
  const trained of("ppo", on_policy + options{"env.id=RecordingFloats-v0"});
  const std::vector<float> obs{0.5f, -3.0f, 0.02f};
  const auto draw = [&](std::uint64_t seed) {
    auto policy = load_policy(of.run(), {.deterministic = false, .seed = seed});
    std::vector<float> drawn;
    for (int i = 0; i < 5; ++i) {
      const auto action = policy.act(obs);
      drawn.insert(drawn.end(), action.continuous.begin(), action.continuous.end());
    }
    return drawn;
  };
  CHECK(draw(1) == draw(1));
  CHECK(draw(1) != draw(2));
  for (const float number : draw(1)) CHECK((number >= -2.0f && number <= 6.0f));
}

TEST_CASE("load_policy: what is no model of a policy is refused by what it is and who wrote it") {
  const trained of(
      "sac", off_policy + options{"env.id=RecordingFloats-v0", "checkpoint.every_updates=50"});
  const auto says = [](const fs::path& path) {
    return testing::message_of([&] { load_policy(path); });
  };
  fs::path kept;
  for (const auto& each : fs::directory_iterator(fs::path(of.run()) / "checkpoints"))
    if (each.path().filename().string().starts_with("ckpt-")) kept = each.path();
  REQUIRE(!kept.empty());
  CHECK_THAT(says(kept), Contains("a checkpoint of sac on RecordingFloats-v0"));
  CHECK_THAT(says(kept / "run.bin"), Contains("a file of a checkpoint of sac"));

  // The folder of a language model in a run of GRPO.
  const auto run = of.folder() / "words", words = run / "last_model";
  fs::create_directories(words);
  std::ofstream(run / "config.json") << R"({"algo": "grpo"})";
  std::ofstream(words / "config.json") << R"({"model_type": "llama"})";
  std::ofstream(words / "model.safetensors") << "12345678{}";
  for (const auto& path : {run, words}) {
    INFO(path);
    CHECK_THAT(says(path), Contains("a language model that grpo has written"));
  }
  CHECK_THAT(says(words / "model.safetensors"), Contains("a file of a language model that grpo"));

  const auto cut = of.folder() / "cut";
  fs::copy_file(of.model(), cut);
  fs::resize_file(cut, fs::file_size(cut) / 2);
  CHECK_THAT(says(cut), Contains("cut: damaged"));
  const auto empty = of.folder() / "empty";
  fs::create_directories(empty);
  CHECK_THAT(says(empty), Contains("expected the model file of a policy, got a folder"));
  CHECK_THAT(says(of.folder() / "nowhere"), Contains("nowhere: cannot be opened"));
  fs::rename(of.model(), of.folder() / "moved");
  fs::remove(fs::path(of.run()) / "best_model");
  CHECK_THAT(says(of.run()), Contains("last_model: expected a model, got no file"));
}

TEST_CASE("load_policy: weights of another shape are refused, with the algorithm that wrote them") {
  const trained of("ppo", on_policy + options{"env.id=RecordingChoice-v0"});
  auto model = load_model(of.model());
  model.parameters = model.parameters.narrow(0, 0, 5).clone();
  save_model(of.model(), model);
  CHECK_THROWS_WITH(load_policy(of.run()),
                    Contains("last_model") && Contains("written by ppo") && Contains("shape"));
  model = load_model(of.model());
  model.action_space = spaces::box(-1.0f, 1.0f, {2});
  save_model(of.model(), model);
  CHECK_THROWS_WITH(load_policy(of.run()), Contains("written by ppo") && Contains("Box("));
}

TEST_CASE("load_policy: an observation, a mask or an agent that does not fit is named") {
  const trained one("ppo", on_policy + options{"env.id=RecordingChoice-v0"});
  auto single = load_policy(one.run());
  CHECK_THROWS_WITH(single.act(std::vector<float>{1, 2}),
                    Contains("observation: expected 3 numbers, got 2"));
  CHECK_THROWS_WITH(single.act(std::vector<float>{1, std::nanf(""), 2}), Contains("at index 1"));
  CHECK_THROWS_WITH(single.act("left", std::vector<float>{1, 2, 3}), Contains("a single agent"));
  CHECK_THROWS_WITH(single.act(0, std::vector<float>{1, 2, 3}),
                    Contains("agent: expected none, because") && Contains("got the index 0"));
  CHECK_THROWS_WITH(single.observation_size(0), Contains("agent: expected none, because"));
  const trained several("ippo", joint_on_policy);
  auto team = load_policy(several.run());
  CHECK(team.agents() == std::vector<std::string>{"left", "right"});
  const std::vector<float> obs{0.1f, 0.2f};
  CHECK_THROWS_WITH(team.act("middle", obs), Contains("one of left, right, got \"middle\""));
  CHECK_THROWS_WITH(team.act(2, obs), Contains("agent: expected an index below 2"));
  CHECK_THROWS_WITH(team.act("left", std::vector<float>{1}),
                    Contains("agent \"left\": expected 2 numbers, got 1"));
  CHECK_THROWS_WITH(team.observation_size(2), Contains("agent: expected an index below 2"));
  CHECK_THROWS_WITH(team.act("left", obs, std::vector<float>{1}), Contains("action mask of agent"));
  for (const float flag : {2.0f, -1.0f, 0.5f}) {
    CHECK_THROWS_WITH(team.act("left", obs, std::vector<float>{0, flag, 0}),
                      Contains("action mask of agent \"left\"") && Contains("at index 1"));
  }
  CHECK(team.act("left", obs, std::vector<float>{0, 0, 0}).discrete ==
        team.act("left", obs).discrete);
  const std::vector<float> only_last{0, 0, 1};
  CHECK(team.act("right", obs, only_last).discrete.front() == 2);
  CHECK_THROWS_WITH(load_policy(one.run(), {.model = "newest"}),
                    Contains("expected last_model or best_model, got \"newest\""));
  CHECK_THROWS_WITH(load_policy(one.run(), {.device = "gpu"}), Contains("got \"gpu\""));
  CHECK_THROWS_WITH(load_policy(""), Contains("expected a run directory or a model file"));
}

TEST_CASE("load_policy: sums that overflow are refused instead of acting on NaN") {
  const trained of("td3", off_policy + options{"env.id=RecordingFloats-v0"});
  auto model = load_model(of.model());
  action_random random(1);
  for (auto& weight : std::span(model.parameters.data_ptr<float>(),
                                static_cast<std::size_t>(model.parameters.numel()))) {
    weight = random.below(2) == 0 ? 1e38f : -1e38f;
  }
  save_model(of.model(), model);
  auto policy = load_policy(of.run());
  CHECK_THROWS_WITH(policy.act(std::vector<float>{10, -5, 7}),
                    Contains("action: expected finite numbers, got nan at index") &&
                        Contains("numbers from -5 to 10"));
}

TEST_CASE("model_file: a model of another algorithm is refused by an actor-critic network") {
  const trained sac("sac", off_policy + options{"env.id=RecordingFloats-v0"});
  actor_critic network({.obs_size = 3, .continuous_size = 2}, {.hidden = {8}}, 1);
  const auto before = network.parameters().clone();
  CHECK_THROWS_WITH(load_model(sac.model(), network),
                    Contains("was written by sac, expected an actor-critic network"));
  CHECK(at::equal(network.parameters(), before));
  const trained ippo("ippo", joint_on_policy);
  CHECK_THROWS_WITH(load_model(ippo.model(), network), Contains("was written by ippo"));
}

}  // namespace
}  // namespace troupe
