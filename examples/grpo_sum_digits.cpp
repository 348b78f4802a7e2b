// A language model learns to add up digits from rewards alone (GRPO). It writes groups of answers,
// each answer is judged, and those that are better than their group become likelier.
//
// train_in makes the algorithm's roles: problems, a generator that writes answers, a judge, a
// replay of whole groups, the trainer, weights and a recorder. The model has 22 letters and 0.8
// million weights, and answers more than half of the problems after 40 supervised batches.
//
//   ./grpo_sum_digits
//
// It takes twenty seconds of CPU and prints the share of right answers to problems that it was
// never trained on. `troupe train --algo grpo` does the same with numbers of four digits.

#include <cstdio>

#include "actors/torch/torch_threads.hpp"
#include "algorithms/language_models/grpo/config.hpp"
#include "runtime/system/run.hpp"

namespace loops = troupe::loops;

troupe::task<> tell(loops::progress now, troupe::evaluation seen) {
  std::printf("update %lld: %.0f %% right\n", static_cast<long long>(now.updates), 100 * seen.mean);
  co_return;
}

troupe::task<> learn(troupe::system& sys) {
  troupe::grpo_config config;
  config.task = {.name = "sum_digits", .problems = {.size = 3, .training = 700, .held_out = 200}};
  config.total_steps = 20;
  config.warm_start = {.batches = 40, .batch_size = 128, .lr = 2e-3};
  config.rollout.prompts = 64;
  config.rollout.group = 8;
  config.trainer.lr = 2e-4;
  config.trainer.warmup_updates = 0;
  config.evaluation = {.every_updates = 10, .problems = 100, .final_problems = 100, .stop_at = {}};
  const auto result = co_await troupe::train_in(sys, troupe::algorithm_with(config),
                                                {.root = "runs"}, {.on_evaluation = tell});
  std::printf("%.0f %% right after %lld updates; see troupe samples %s\n", 100 * result.eval_mean,
              static_cast<long long>(result.steps), result.run_directory.c_str());
}

int main(int argc, char** argv) {
  troupe::use_one_torch_thread();
  return troupe::run(argc, argv, learn);
}
