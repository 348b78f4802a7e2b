// A language model learns a task of your own: to put letters in alphabetical order. One function
// draws the problems, and others judge the answers, with partial credit.
//
// train makes the algorithm's roles: prompts, a generator, rewards, a replay, the trainer, weights
// and a recorder. You write only the functions below.
//
//   ./grpo_own_task
//   ./grpo_own_task --model FOLDER_OR_GGUF trainer.lr=2e-5
//
// Without a chat model it trains the letters model, whose weights are drawn from the seed, in
// seconds of CPU. It prints the share of right answers to held-out problems, then the best and the
// worst of the last answers.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "actors/torch/torch_threads.hpp"
#include "algorithms/language_models/grpo/grpo_task.hpp"

namespace llm = troupe::llm;
namespace loops = troupe::loops;

// readme: draw
/// Draws a problem in words for models that read English, and in letters for the letters model. The
/// warm start shows the expected answers to the model before it gets rewards.
llm::problem draw_letters(troupe::action_random& random, int size) {
  std::string text;
  for (int i = 0; i < size; ++i) text += "abcdef"[random.below(6)];
  auto sorted = text;
  std::ranges::sort(sorted);
  return {.question = "Write the letters " + text + " in alphabetical order, and nothing else.",
          .letters = text + ">",
          .expected = sorted};
}
// readme: end

// readme: rewards
double is_right(const llm::answered_problem& a) { return a.answer == a.asked.expected ? 1.0 : 0.0; }

/// Partial credit for an answer with the given letters in any order.
double same_letters(const llm::answered_problem& a) {
  return std::ranges::is_permutation(a.answer, a.asked.expected) ? 1.0 : 0.0;
}

/// Partial credit for an answer with any letters in alphabetical order.
double in_order(const llm::answered_problem& a) {
  return a.answer.size() > 1 && std::ranges::is_sorted(a.answer) ? 1.0 : 0.0;
}
// readme: end

// readme: task
const llm::problem_task alphabet{
    .name = "alphabet",
    .draw = draw_letters,
    .rewards = {
        {"right", is_right, 0.6}, {"letters", same_letters, 0.2}, {"order", in_order, 0.2}}};
// readme: end

troupe::grpo_config usual(bool letters) {
  troupe::grpo_config config;
  config.task.problems = {.size = 4, .training = 1000, .held_out = 100};
  config.total_steps = 30;
  config.warm_start = {.batches = letters ? 25 : 0, .batch_size = 32, .lr = 3e-3};
  config.rollout.prompts = letters ? 64 : 8;
  config.rollout.group = letters ? 4 : 8;
  config.trainer.lr = letters ? 4e-4 : 1e-5;
  config.trainer.lr_schedule = troupe::annealing::constant;
  config.trainer.warmup_updates = 0;
  config.evaluation = {.every_updates = 10, .problems = 50, .final_problems = 50, .stop_at = {}};
  return config;
}

troupe::task<> tell(loops::progress now, troupe::evaluation seen) {
  std::printf("update %lld: %.0f %% right\n", static_cast<long long>(now.updates), 100 * seen.mean);
  co_return;
}

int main(int argc, char** argv) {
  CLI::App app("A language model learns to sort letters, by a reward of this program's own.");
  std::string model;
  std::vector<std::string> overrides;
  app.add_option("--model", model,
                 "A chat model's folder or GGUF file. The default is the letters model.");
  app.add_option("options", overrides,
                 "Options of the run, such as trainer.lr=1e-5; see `troupe config grpo`.");
  try {
    app.parse(argc, argv);
    troupe::use_one_torch_thread();
    auto config = troupe::parse_config<troupe::grpo_config>(troupe::load_config("", overrides),
                                                            usual(model.empty()));
    config.model.path = model;
    const auto run = troupe::train(troupe::algorithm_with(config, alphabet), {.root = "runs"},
                                   {.callbacks = {.on_evaluation = tell}});
    std::printf("the answers: troupe samples %s\n", run.run_directory.c_str());
    return 0;
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "grpo_own_task: %s\n", e.what());
    return 1;
  }
}
