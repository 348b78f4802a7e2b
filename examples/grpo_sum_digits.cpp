// A language model learns to add up digits by reward alone: it writes groups of answers, each is
// judged, and what is better than its group becomes likelier (GRPO).
//
// The cast is the algorithm's, made by train_in: problems, a generator that writes answers, a
// judge, a replay of whole groups, the trainer, weights, a recorder. The model is one of 22 letters
// with 0.8 million weights, which 40 supervised batches have taught to answer more than half of it.
//
//   build/release/examples/grpo_sum_digits
//
// Twenty seconds of CPU; prints the share of right answers to problems that it was never trained
// on, and an answer. `troupe train --algo grpo` is the same with numbers of four digits.

#include <cstdio>

#include "actors/torch/torch_threads.hpp"
#include "algorithms/language_models/grpo/config.hpp"
#include "runtime/system/run.hpp"

using namespace troupe;

task<> tell(loops::progress now, evaluation seen) {
  std::printf("update %lld: %.0f %% right\n", static_cast<long long>(now.updates), 100 * seen.mean);
  co_return;
}

task<> learn(troupe::system& sys) {
  grpo_config config;
  config.task = {.name = "sum_digits", .problems = {.size = 3, .training = 700, .held_out = 200}};
  config.total_steps = 20;
  config.warm_start = {.batches = 40, .batch_size = 128, .lr = 2e-3};
  config.rollout.prompts = 64;
  config.rollout.group = 8;
  config.trainer.lr = 2e-4;
  config.trainer.warmup_updates = 0;
  config.evaluation = {.every_updates = 10, .problems = 100, .final_problems = 100, .stop_at = {}};
  const auto result =
      co_await train_in(sys, algorithm_with(config), {.root = "runs"}, {.evaluated = tell});
  std::printf("%.0f %% right after %lld updates; see troupe samples %s\n", 100 * result.eval_mean,
              static_cast<long long>(result.steps), result.run_directory.c_str());
}

int main(int argc, char** argv) {
  use_one_torch_thread();
  return troupe::run(argc, argv, learn);
}
