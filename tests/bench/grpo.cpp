// What a step of GRPO costs on a model of SmolLM2-135M's shape: 8 groups of 8 answers of 8 tokens,
// on prompts of 70, in float on one thread; random weights, which the arithmetic doesn't depend on.
// Forward, backward and AdamW, in CPU seconds, the best of three:
//
//   train_step_cpu_s            a group's prompt computed once
//   train_step_repeated_cpu_s   the same gradient, with the prompt before each answer
//   train_step_gain             the second over the first
//   train_step_bf16_cpu_s       the first with products in bfloat16
//
// Then a whole step beside TRL's, grpo_step.hpp, and the loops on a slow server, grpo_loops.hpp.
//
// bench_grpo [--json] [--steps] [training] [whole] [loops]   these parts alone; --steps: the first
// kind alone, for a profiler

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

std::vector<token_id> some_tokens(std::size_t count, std::size_t seed) {
  std::vector<token_id> ids;
  for (std::size_t i = 0; i < count; ++i)
    ids.push_back(static_cast<token_id>((i + 101 * seed) * 977 % 49152));
  return ids;
}

std::vector<token_group> shared_prompts() {
  std::vector<token_group> batch;
  for (std::size_t g = 0; g < groups; ++g) {
    token_group group{some_tokens(prompt_tokens, g), {}};
    for (std::size_t a = 0; a < answers; ++a)
      group.answers.push_back(some_tokens(answer_tokens, 1000 + answers * g + a));
    batch.push_back(std::move(group));
  }
  return batch;
}

std::vector<token_group> repeated(const token_group& group) {
  std::vector<token_group> batch;
  for (const auto& answer : group.answers) batch.push_back({group.prompt, {answer}});
  return batch;
}

struct model {
  model_config config = smollm2_135m();
  trained_weights trained =
      train_weights(config, flatten_weights(config, random_weights(config, 1)));
  adam rule{std::size_t(trained.parameters.numel())};

  // The loss is that of REINFORCE with every advantage 1: of each log-prob the gradient is the
  // same.
  void backward(std::span<const token_group> batch, compute_type compute) {
    const auto log_probs =
        answer_log_probs(config, trained.weights, batch, {.forward = {.compute = compute}});
    (-log_probs.sum() / double(groups * answers * answer_tokens)).backward();
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

double packed_step(model& m, const std::vector<token_group>& batch, compute_type compute) {
  return cpu_seconds([&] {
    m.backward(batch, compute);
    m.step();
  });
}

void measure_training(nlohmann::ordered_json& results) {
  model m;
  const auto batch = shared_prompts();
  detail::series packed, bf16, plain;
  for (int i = 0; i < 3; ++i) {
    packed.cpu.push_back(packed_step(m, batch, compute_type::f32));
    bf16.cpu.push_back(packed_step(m, batch, compute_type::bf16));
    plain.cpu.push_back(cpu_seconds([&] {
      for (const auto& group : batch) m.backward(repeated(group), compute_type::f32);
      m.step();
    }));
  }
  const double fastest = detail::series::best(packed.cpu);
  results["train_step_cpu_s"] = fastest;
  results["train_step_repeated_cpu_s"] = detail::series::best(plain.cpu);
  results["train_step_gain"] = detail::series::best(plain.cpu) / fastest;
  results["train_step_bf16_cpu_s"] = detail::series::best(bf16.cpu);
}

void profile_training() {
  model m;
  const auto batch = shared_prompts();
  for (int i = 0; i < 3; ++i)
    std::printf("train_step_cpu_s %.2f\n", packed_step(m, batch, compute_type::f32));
}

constexpr std::pair<const char*, void (*)(nlohmann::ordered_json&)> parts[] = {
    {"training", measure_training}, {"whole", measure_whole_step}, {"loops", measure_grpo_loops}};

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
        value.is_number() ? fmt::format("{:8.2f}", value.get<double>()) : value.dump();
    std::printf("%-28s %s\n", name.c_str(), text.c_str());
  }
  if (words.contains("--json")) std::printf("%s\n", results.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace troupe::llm

int main(int argc, char** argv) { return troupe::llm::run({argv + 1, argv + argc}); }
