// What a decoder of SmolLM2-135M's shape does in a second of CPU time on one core, in float; random
// weights, which the arithmetic doesn't depend on. The best of three:
//
//   decode_tokens_per_s_core       32 sequences that begin with the same 64 tokens and grow to 96
//   decode_1_tokens_per_s_core     the same for one sequence
//   prefill_tokens_per_s_core      a prompt of 512 tokens, logits after the last
//   service_tokens_per_s_core      32 answers to one prompt of 64 through the generator service,
//   its
//                                  prompt, drawing at temperature 1 and messages included
//   service_over_decoder           CPU time of that over the decoder's alone, in turn with it
//   prompt_tokens_of_group         tokens of the prompt that were computed for these 32 answers
//
// bench_llm [--json]

#include "actors/torch/torch.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "actors/llm/generator/generator.hpp"
#include "actors/llm/model/decoder.hpp"
#include "actors/llm/model/flat_weights.hpp"
#include "actors/llm/model/model_weights.hpp"
#include "actors/torch/torch_threads.hpp"
#include "runtime/base/log.hpp"
#include "runtime/system/system.hpp"
#include "tests/bench/smollm2_shape.hpp"
#include "tests/bench/two_clocks.hpp"

namespace troupe::llm {
namespace {

using detail::cpu_seconds;

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

/// CPU seconds of a prompt and the steps that follow.
struct decode_cost {
  double prompt, steps;
};

decode_cost decode(decoder& d, std::size_t batch) {
  const auto ids = some_tokens(prompt_tokens);
  const double before = cpu_seconds();
  kv_sequence prompt(d.config(), prompt_tokens);
  const token_run prefill{&prompt, ids};
  d.forward({&prefill, 1});
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
  return {begin - before, cpu_seconds() - begin};
}

/// Tokens in a second, of `batch` sequences.
double decode_rate(decoder& d, std::size_t batch) {
  const auto seconds = best_of_three([&] { return decode(d, batch).steps; });
  return static_cast<double>(batch * new_tokens) / seconds;
}

struct served {
  std::vector<double> seconds, of_decoder;  // of the same group, one after the other
  std::int64_t prompt_computed = 0;
};

// One token more than the decoder's steps: the first is drawn from the prompt's logits.
task<served> compare(service<generator> by, std::shared_ptr<decoder> alone) {
  const generation_request request{.prompt = some_tokens(prompt_tokens),
                                   .max_tokens = new_tokens + 1,
                                   .sampling = {.seed = 1},
                                   .stop_at_eos = false};
  served s;
  for (int round = 0; round < 3; ++round) {
    const auto cost = decode(*alone, 32);
    s.of_decoder.push_back(cost.prompt + cost.steps);
    const double begin = cpu_seconds();
    const auto answers = co_await by.route<&generator::generate_group>(request, std::int64_t{32});
    s.seconds.push_back(cpu_seconds() - begin);
    s.prompt_computed = 0;
    for (const auto& one : answers) s.prompt_computed += one.prompt_tokens_computed;
  }
  co_return s;
}

task<served> serve(system& sys, at::Tensor parameters, std::shared_ptr<decoder> alone) {
  auto store = co_await sys.serve<weight_store>({.name = "weights"});
  const weights first{1, std::move(parameters), {}};
  co_await store.route<&weight_store::put>(first);
  const generator_options options{.config = smollm2_135m()};
  auto generators = co_await sys.serve<generator>(
      {.name = "generator", .placement = placement::thread}, options, store);
  co_return co_await compare(generators, alone);
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
  use_one_torch_thread();
  log::set_level("off");
  const auto config = smollm2_135m();
  const auto parameters = flatten_weights(config, random_weights(config, 1));
  const auto d = std::make_shared<decoder>(pack_weights(config, weights_in(config, parameters)));
  const double rate_32 = decode_rate(*d, 32), rate_1 = decode_rate(*d, 1);
  const double rate_of_prefill = prefill_rate(*d);
  system sys;
  const auto s = sys.run(serve(sys, parameters, d));
  const double seconds = detail::series::best(s.seconds);
  const nlohmann::ordered_json results{
      {"decode_tokens_per_s_core", rate_32},
      {"decode_1_tokens_per_s_core", rate_1},
      {"prefill_tokens_per_s_core", rate_of_prefill},
      {"service_tokens_per_s_core", 32.0 * (new_tokens + 1) / seconds},
      {"service_over_decoder", seconds / detail::series::best(s.of_decoder)},
      {"prompt_tokens_of_group", s.prompt_computed}};
  for (const auto& [name, value] : results.items()) {
    std::printf("%-28s %8.2f\n", name.c_str(), value.get<double>());
  }
  if (json) std::printf("%s\n", results.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace troupe::llm

int main(int argc, char** argv) {
  return troupe::llm::run(argc > 1 && std::strcmp(argv[1], "--json") == 0);
}
