// What a decoder of SmolLM2-135M's shape does in a second of CPU time on one core, in float; random
// weights, which the arithmetic doesn't depend on. The best of three:
//
//   decode_tokens_per_s_core       32 sequences that begin with the same 64 tokens and grow to 96
//   decode_1_tokens_per_s_core     the same for one sequence
//   prefill_tokens_per_s_core      a prompt of 512 tokens, logits after the last
//   prompt_tokens_of_group         tokens computed for a prompt of 64 that 32 sequences share
//
// bench_llm [--json]

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "actors/llm/model/decoder.hpp"
#include "actors/llm/model/model_weights.hpp"
#include "tests/bench/smollm2_shape.hpp"

namespace troupe::llm {
namespace {

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::vector<token_id> some_tokens(std::size_t count) {
  std::vector<token_id> ids;
  for (std::size_t i = 0; i < count; ++i) ids.push_back(static_cast<token_id>(i * 977 % 49152));
  return ids;
}

template <class Work>
double best_of_three(Work work) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 3; ++i) best = std::min(best, work());
  return best;
}

constexpr std::size_t prompt_tokens = 64;
constexpr std::size_t new_tokens = 32;

/// Tokens in a second, of `batch` sequences.
double decode_rate(decoder& d, std::size_t batch, std::int64_t& computed_of_prompt) {
  const auto ids = some_tokens(prompt_tokens);
  const auto seconds = best_of_three([&] {
    kv_sequence prompt(d.config(), prompt_tokens);
    const token_run prefill{&prompt, ids, wanted_logits::none};
    d.forward({&prefill, 1});
    computed_of_prompt = prompt.length();
    std::vector<kv_sequence> sequences;
    for (std::size_t i = 0; i < batch; ++i) sequences.push_back(prompt.fork(new_tokens));
    const double begin = cpu_seconds();
    for (std::size_t step = 0; step < new_tokens; ++step) {
      std::vector<token_run> runs;
      for (std::size_t i = 0; i < batch; ++i) {
        runs.push_back({&sequences[i], std::span(ids).subspan((i + step) % prompt_tokens, 1)});
      }
      d.forward(runs);
    }
    return cpu_seconds() - begin;
  });
  return static_cast<double>(batch * new_tokens) / seconds;
}

double prefill_rate(decoder& d) {
  const auto ids = some_tokens(512);
  const auto seconds = best_of_three([&] {
    kv_sequence sequence(d.config(), 512);
    const token_run run{&sequence, ids};
    const double begin = cpu_seconds();
    d.forward({&run, 1});
    return cpu_seconds() - begin;
  });
  return 512 / seconds;
}

int run(bool json) {
  const auto config = smollm2_135m();
  decoder d(pack_weights(config, random_weights(config, 1)));
  std::int64_t prompt = 0;
  const double rate_32 = decode_rate(d, 32, prompt);
  const nlohmann::ordered_json results{{"decode_tokens_per_s_core", rate_32},
                                       {"decode_1_tokens_per_s_core", decode_rate(d, 1, prompt)},
                                       {"prefill_tokens_per_s_core", prefill_rate(d)},
                                       {"prompt_tokens_of_group", prompt}};
  for (const auto& [name, value] : results.items()) {
    std::printf("%-28s %8.1f\n", name.c_str(), value.get<double>());
  }
  if (json) std::printf("%s\n", results.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace troupe::llm

int main(int argc, char** argv) {
  return troupe::llm::run(argc > 1 && std::strcmp(argv[1], "--json") == 0);
}
