#include "algorithms/program/main.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/captured_stream.hpp"

namespace troupe {
namespace {

/// Two levels of episodes of one step, all of them a success.
class steps_up final : public environment {
 public:
  env_spec spec() const override {
    return {.id = "StepsUp-v0",
            .observation_space = spaces::box(0.0f, 1.0f, {1}),
            .action_space = spaces::discrete(2),
            .levels = 2};
  }
  void reset(std::optional<std::uint64_t>, std::span<float> obs) override { obs[0] = 0; }
  step_result step(action_view, std::span<float> obs) override {
    obs[0] = 0;
    return {.reward = 1, .terminated = true};
  }
};

/// What `mine train` prints with these options and short updates.
std::string train(const std::string& steps, std::vector<std::string> options) {
  const temporary_folder folder;
  std::vector<std::string> words{"mine", "--log-level", "off", "train", "-n", steps, "--runs"};
  options.insert(options.begin(), {folder.path, "--metrics-port=0", "rollout.n_steps=64",
                                   "evaluation.every_steps=0", "evaluation.final_episodes=1"});
  words.insert(words.end(), options.begin(), options.end());
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const testing::captured_stream out(stdout);
  const int code = troupe::main(static_cast<int>(words.size()), argv.data(), {.name = "mine"});
  REQUIRE(code == 0);
  return out.text();
}

TEST_CASE("train: a curriculum that is mastered is said to have ended training") {
  register_environment<steps_up>("StepsUp-v0");
  const std::string section = R"({"promote_at": 0.75, "window": 4, "min_episodes": 4)";
  const auto out = train(
      "100000",
      {"--env", "StepsUp-v0", "env.curriculum=" + section + R"(, "stop_when_mastered": true})"});
  CHECK_THAT(out, Catch::Contains("\ntraining ended early because the last level's success rate "
                                  "reached 0.75 (env.curriculum.stop_when_mastered)\n"));
  const auto whole = train("128", {"--env", "StepsUp-v0", "env.curriculum=" + section + "}"});
  CHECK_THAT(whole, !Catch::Contains("training ended"));
}

TEST_CASE("train: tasks that are learned are said to have ended training") {
  const auto out = train("100000", {R"(env.tasks=[{"id": "CartPole-v1"}, {"id": "CartPole-v0"}])",
                                    R"(env.schedule={"window": 2, "stop_when_learned": true})"});
  CHECK_THAT(out, Catch::Contains("\ntraining ended early because each task's mean return reached "
                                  "its target (env.schedule.stop_when_learned)\n"));
}

}  // namespace
}  // namespace troupe
