// What a step of GRPO costs on a model of SmolLM2-135M's shape: 8 groups of 8 answers of 8 tokens,
// on prompts of 70, in float on one thread; random weights, which the arithmetic doesn't depend on.
// Forward, backward and AdamW, in CPU seconds, the best of three:
//
//   train_step_cpu_s            a group's prompt computed once
//   train_step_repeated_cpu_s   the same gradient as TRL computes it, 8 rows at a time: the prompt
//                               before each answer, and nothing shared
//   train_step_gain             the second over the first
//   train_step_bf16_cpu_s       the first with products in bfloat16; null on a CPU without AVX-512,
//                               where it takes minutes
//   computed_tokens, repeated_computed_tokens
//                               tokens that went through the model in a step of the first kind and
//                               of the second
//
// Then whole steps beside TRL's, grpo_step.hpp, and the loops on a slow server, grpo_loops.hpp.
//
// bench_grpo [--json] [--steps] [training] [whole] [long] [loops]   these parts alone; --steps: the
// first kind alone, for a profiler

#include "actors/torch/torch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "actors/llm/model/flat_weights.hpp"
#include "actors/llm/training/token_groups.hpp"
#include "actors/torch/torch_threads.hpp"
#include "actors/trainer/adam.hpp"
#include "tests/bench/grpo_batch.hpp"
#include "tests/bench/grpo_loops.hpp"
#include "tests/bench/grpo_step.hpp"
#include "tests/bench/smollm2_shape.hpp"
#include "tests/bench/two_clocks.hpp"

namespace troupe::llm {
namespace {

using namespace grpo_batch;

struct model {
  model_config config = smollm2_135m();
  trained_weights trained =
      train_weights(config, flatten_weights(config, random_weights(config, 1)));
  adam rule{std::size_t(trained.parameters.numel())};

  // The loss is that of REINFORCE with every advantage 1: of each log-prob the gradient is the
  // same. Returns the number of tokens that were computed.
  std::int64_t backward(const packed_groups& batch, compute_type compute) {
    const auto hidden = packed_hidden(config, trained.weights, batch.tokens, {.compute = compute});
    const auto scores =
        token_log_probs(config, trained.weights, hidden, batch.targets, {.compute = compute});
    (-scores.log_probs.sum() / double(short_answers.sampled_tokens())).backward();
    return hidden.size(0);
  }

  void step() {
    const auto count = std::size_t(trained.parameters.numel());
    rule.step({trained.parameters.data_ptr<float>(), count},
              {trained.gradient.data_ptr<float>(), count}, 1e-6);
    trained.gradient.zero_();
  }
};

template <class Work>
double cpu_seconds(Work work) {
  const double begin = detail::cpu_seconds();
  work();
  return detail::cpu_seconds() - begin;
}

struct step_costs {
  std::vector<double> cpu;
  std::int64_t computed_tokens = 0;  // of one step

  void take_step(model& m, std::span<const packed_groups> parts, compute_type compute) {
    computed_tokens = 0;
    cpu.push_back(cpu_seconds([&] {
      for (const auto& part : parts) computed_tokens += m.backward(part, compute);
      m.step();
    }));
  }
};

void measure_training(nlohmann::ordered_json& results) {
  model m;
  const auto groups = made_up_groups(short_answers);
  const std::vector once{pack_groups(groups)};
  std::vector<packed_groups> repeated;
  for (const auto& group : groups) repeated.push_back(repeat_prompt(group));
  step_costs packed, bf16, plain;
  const bool has_bf16 = __builtin_cpu_supports("avx512bw");
  for (int i = 0; i < 3; ++i) {
    packed.take_step(m, once, compute_type::f32);
    if (has_bf16) bf16.take_step(m, once, compute_type::bf16);
    plain.take_step(m, repeated, compute_type::f32);
  }
  const double fastest = detail::series::best(packed.cpu);
  results["train_step_cpu_s"] = fastest;
  results["train_step_repeated_cpu_s"] = detail::series::best(plain.cpu);
  results["train_step_gain"] = detail::series::best(plain.cpu) / fastest;
  results["train_step_bf16_cpu_s"] = nullptr;
  if (has_bf16) results["train_step_bf16_cpu_s"] = detail::series::best(bf16.cpu);
  results["computed_tokens"] = packed.computed_tokens;
  results["repeated_computed_tokens"] = plain.computed_tokens;
}

void profile_training() {
  model m;
  const std::vector once{pack_groups(made_up_groups(short_answers))};
  step_costs packed;
  for (int i = 0; i < 3; ++i) {
    packed.take_step(m, once, compute_type::f32);
    std::printf("train_step_cpu_s %.2f\n", packed.cpu.back());
  }
}

constexpr std::pair<const char*, void (*)(nlohmann::ordered_json&)> parts[] = {
    {"training", measure_training},
    {"whole", measure_whole_step},
    {"long", measure_long_step},
    {"loops", measure_grpo_loops}};

int run(const std::set<std::string>& words) {
  use_one_torch_thread();
  if (words.contains("--steps")) {
    profile_training();
    return 0;
  }
  const bool all = std::ranges::none_of(parts, [&](auto& p) { return words.contains(p.first); });
  nlohmann::ordered_json results;
  for (const auto& [name, measure] : parts) {
    if (all || words.contains(name)) measure(results);
  }
  for (const auto& [name, value] : results.items()) {
    const auto text =
        value.is_number_float() ? fmt::format("{:.2f}", value.get<double>()) : value.dump();
    std::printf("%-32s %8s\n", name.c_str(), text.c_str());
  }
  if (words.contains("--json")) std::printf("%s\n", results.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace troupe::llm

int main(int argc, char** argv) { return troupe::llm::run({argv + 1, argv + argc}); }
