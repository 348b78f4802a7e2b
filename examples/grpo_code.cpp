// A language model learns to write Python functions from rewards alone (GRPO). Its functions are
// run on tests, and the share of tests passed is the reward.
//
// The roles, besides the generator, replay, trainer, weights and recorder of any GRPO run:
//   problems   draw small functions to be written, with tests that the model doesn't see
//   coders     run the model's programs, each in a sandbox of its own
//   rewards    give the share of tests passed, and measure whether all tests passed
//
//   ./grpo_code
//   ./grpo_code --model FOLDER_OR_GGUF trainer.lr=2e-5
//
// Without a model it judges the answers below like those of a model, in seconds. With a chat model
// it trains that model, as `troupe train --algo grpo --task code` does. Where a machine can't make
// sandboxes (`troupe check-sandbox`), --allow-unsandboxed-code runs programs without.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "actors/sandbox/check_sandbox.hpp"
#include "actors/torch/torch_threads.hpp"
#include "algorithms/language_models/grpo/config.hpp"
#include "algorithms/language_models/grpo/grpo_episode.hpp"
#include "runtime/system/system.hpp"

namespace llm = troupe::llm;
namespace loops = troupe::loops;

/// Answers that a model might write.
std::vector<std::string> answers_to(const llm::problem& asked) {
  const std::string head = "def " + asked.function.name + "(x):\n    ";
  return {"Here it is:\n```python\n" + asked.expected + "\n```\n",
          head + "return x",
          head + "return x +",
          head + "while True: pass",
          "import sys\nprint('all tests passed')\nsys.exit(0)",
          "import os\nwhile True: os.fork()"};
}

std::string end_of(const troupe::code_result& ran) {
  if (ran.limit != troupe::code_limit::none)
    return "hit the limit " + std::string(troupe::name_of(ran.limit));
  if (ran.signal != 0) return "crashed";
  return ran.exit_code == 0 ? "ended" : "failed";
}

/// Runs and judges one answer, as the algorithm's episode does.
troupe::task<double> reward_of(troupe::service<troupe::code_runner> coders,
                               troupe::service<troupe::answer_judge> rewards, llm::problem asked,
                               std::string answer) {
  const auto request = troupe::call_function(troupe::code_in(answer), asked.function);
  const auto ran = co_await coders.route<&troupe::code_runner::run>(request);
  const double passed = troupe::passed_share(ran, asked.function);
  const llm::answered_problem judged{asked, answer, passed};
  const auto reward = co_await rewards.route<&troupe::answer_judge::evaluate>(judged);
  std::printf("\n%s\n-> %s, reward %.2f\n", answer.c_str(), end_of(ran).c_str(), reward.total);
  co_return reward.total;
}

troupe::task<> judge_some(troupe::system& sys, bool unsandboxed) {
  const auto task = llm::code_task();
  const auto problems = make_problems(task, {.size = 1, .training = 100, .held_out = 1}, 1);
  const auto name = [](const llm::problem& one) { return one.function.name; };
  const auto& asked = *std::ranges::find(problems.training, "clamp", name);
  const troupe::code_runner_options options{.sandbox = {.limits = {.wall_s = 2}},
                                            .allow_unsandboxed = unsandboxed};
  auto coders = co_await sys.serve<troupe::code_runner>(
      {.name = "coder", .placement = troupe::placement::thread}, options);
  auto rewards = co_await sys.serve<troupe::answer_judge>({.name = "rewards"}, task.rewards);
  std::printf("%s\n", asked.question.c_str());
  for (const auto& answer : answers_to(asked)) {
    co_await reward_of(coders, rewards, asked, answer);
  }
}

troupe::task<> tell(loops::progress now, troupe::evaluation seen) {
  std::printf("update %lld: %.0f %% right\n", static_cast<long long>(now.updates), 100 * seen.mean);
  co_return;
}

troupe::task<> learn(troupe::system& sys, troupe::grpo_config config) {
  const auto result = co_await troupe::train_in(sys, troupe::algorithm_with(config),
                                                {.root = "runs"}, {.on_evaluation = tell});
  std::printf("%.0f %% right after %lld updates; see troupe samples %s\n", 100 * result.eval_mean,
              static_cast<long long>(result.steps), result.run_directory.c_str());
}

/// A chat model writes longer answers than the letters model and needs no warm start.
troupe::grpo_config usual() {
  troupe::grpo_config config;
  config.task.name = "code";
  config.total_steps = 100;
  config.warm_start.batches = 0;
  config.rollout.prompts = config.rollout.group = 8;
  config.rollout.max_completion_tokens = 64;
  return config;
}

int main(int argc, char** argv) {
  CLI::App app("A language model learns to write Python functions by reward alone.");
  std::string model;
  bool allowed = false;
  std::vector<std::string> overrides;
  app.add_option("--model", model,
                 "A chat model's folder or GGUF file. Without one, given answers are judged.");
  app.add_flag("--allow-unsandboxed-code", allowed,
               "Let the model's programs run without a sandbox.");
  app.add_option("options", overrides,
                 "Options of the run, such as trainer.lr=1e-5; see `troupe config grpo`.");
  try {
    app.parse(argc, argv);
    if (!allowed) troupe::require_sandbox();  // says what this machine lacks
    troupe::use_one_torch_thread();
    troupe::system sys;
    if (model.empty()) {
      sys.run(judge_some(sys, allowed));
      return 0;
    }
    auto config =
        troupe::parse_config<troupe::grpo_config>(troupe::load_config("", overrides), usual());
    config.model.path = model;
    config.allow_unsandboxed_code = allowed;
    sys.run(learn(sys, config));
    return 0;
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "grpo_code: %s\n", e.what());
    return 1;
  }
}
