#include "actors/torch/torch.hpp"

#include "actors/llm/training/lora.hpp"

#include <ATen/CPUGeneratorImpl.h>

#include "actors/llm/training/token_groups.hpp"
#include "tests/actors/llm/small_models.hpp"
#include "tests/test.hpp"

namespace troupe::llm {
namespace {

using Catch::Matchers::Contains;

const std::vector<token_group> groups{{{1, 2, 3}, {{4, 5}, {6}}}, {{7, 8}, {{9, 10, 11}}}};

/// A block in which no b is 0.
at::Tensor some_adapters(const model_config& config, const lora_options& options) {
  auto generator = at::detail::createCPUGenerator(9);
  return at::empty({adapter_count(config, options)}).normal_(0.0, 0.1, generator);
}

at::Tensor log_probs(const model_config& config, const at::Tensor& weights,
                     const adapter_weights* adapters, bool recompute = false) {
  return answer_log_probs(config, weights_in(config, weights), groups,
                          {.forward = {.recompute_layers = recompute, .adapters = adapters}});
}

double farthest(const at::Tensor& a, const at::Tensor& b) {
  REQUIRE(a.sizes() == b.sizes());
  return (a - b).abs().max().item<double>();
}

TEST_CASE("lora: the merged model is the base with its adapters, whatever is adapted") {
  const std::vector<lora_options> choices{
      {},
      {.targets = {projection::v, projection::q}, .rank = 3, .alpha = 5.0},
      {.targets = {projection::down}, .rank = 1, .alpha = 1.0}};
  for (const auto family : every_family) {
    const auto config = small_model(family);
    const auto base = flatten_weights(config, random_weights(config, 2));
    for (const auto& options : choices) {
      const auto flat = some_adapters(config, options);
      const auto adapters = adapters_in(config, options, flat);
      const auto beside = log_probs(config, base, &adapters);
      CHECK(farthest(beside, log_probs(config, merge_adapters(config, options, base, flat),
                                       nullptr)) < 1e-6);
      CHECK(farthest(beside, log_probs(config, base, nullptr)) > 1e-4);  // they do something
    }
  }
}

TEST_CASE("lora: a merged weight is W + alpha / rank b a") {
  const auto config = small_model(model_family::llama);
  const lora_options options{.targets = {projection::up}, .rank = 2, .alpha = 6.0};
  const auto base = flatten_weights(config, random_weights(config, 2));
  const auto flat = some_adapters(config, options);
  const auto merged = merge_adapters(config, options, base, flat);
  const auto before = weights_in(config, base), after = weights_in(config, merged);
  std::int64_t begin = 0;  // of a layer, in which a [2, inputs] comes before b [outputs, 2]
  for (std::size_t layer = 0; layer < before.layers.size(); ++layer) {
    const auto& weight = before.layers[layer].up;
    const auto outputs = weight.size(0), inputs = weight.size(1);
    const auto a = flat.narrow(0, begin, 2 * inputs).view({2, inputs});
    const auto b = flat.narrow(0, begin + 2 * inputs, 2 * outputs).view({outputs, 2});
    CHECK(farthest(after.layers[layer].up, weight + 3.0 * at::mm(b, a)) < 1e-6);
    begin += 2 * (inputs + outputs);
  }
  CHECK(begin == flat.numel());
}

TEST_CASE("lora: fresh adapters leave the model as it was") {
  const auto config = small_model(model_family::qwen3);
  const auto base = flatten_weights(config, random_weights(config, 2));
  const auto flat = initial_adapters(config, {}, 4);
  const auto adapters = adapters_in(config, {}, flat);
  CHECK(at::equal(log_probs(config, base, &adapters), log_probs(config, base, nullptr)));
  CHECK(at::equal(merge_adapters(config, {}, base, flat), base));
  CHECK(at::equal(flat, initial_adapters(config, {}, 4)));
  CHECK(!at::equal(flat, initial_adapters(config, {}, 5)));
  CHECK(adapters.layers[1][std::size_t(projection::down)].a.abs().max().item<double>() ==
        Approx(1.0 / std::sqrt(48.0)).epsilon(0.05));
}

TEST_CASE("lora: the gradient is of the adapters alone, and that of the merged weights") {
  const auto config = small_model(model_family::llama);
  const lora_options options{.targets = {projection::q, projection::up}, .rank = 2, .alpha = 3.0};
  constexpr double scale = 1.5;  // alpha / rank
  const auto base = lively_weights(config);
  for (const bool recompute : {false, true}) {
    auto trained = train_adapters(config, options, some_adapters(config, options));
    log_probs(config, base, &trained.weights, recompute).sum().backward();
    CHECK(!base.requires_grad());

    // By the chain rule from W' = W + scale b a.
    const auto merged =
        train_weights(config, merge_adapters(config, options, base, trained.parameters));
    answer_log_probs(config, merged.weights, groups).sum().backward();
    const auto& layer = merged.weights.layers[1];
    const auto check = [&](projection which, const at::Tensor& weight) {
      const auto& one = trained.weights.layers[1][std::size_t(which)];
      const auto d_weight = weight.grad();
      CHECK(d_weight.abs().max().item<double>() > 1e-2);
      CHECK(farthest(one.a.grad(), scale * at::mm(one.b.detach().t(), d_weight)) < 1e-5);
      CHECK(farthest(one.b.grad(), scale * at::mm(d_weight, one.a.detach().t())) < 1e-5);
    };
    check(projection::q, layer.q);
    check(projection::up, layer.up);
  }
}

TEST_CASE("lora: options and blocks that don't fit are refused by name") {
  const auto config = small_model(model_family::llama);
  CHECK_THROWS_WITH(adapter_count(config, {.targets = {}}), Contains("one target or more"));
  CHECK_THROWS_WITH(adapter_count(config, {.targets = {projection::q, projection::q}}),
                    Contains("each target once"));
  CHECK_THROWS_WITH(adapter_count(config, {.rank = 0}), Contains("rank of 1 or more, got 0"));
  CHECK_THROWS_WITH(adapter_count(config, {.alpha = -1.0}), Contains("alpha above 0"));
  CHECK_THROWS_WITH(adapters_in(config, {}, at::zeros({3})), Contains("lora: adapters: expected"));
  adapter_weights short_one{1.0, {{}}};
  const auto base = flatten_weights(config, random_weights(config, 2));
  CHECK_THROWS_WITH(log_probs(config, base, &short_one), Contains("adapters of 2 layers, got 1"));
}

}  // namespace
}  // namespace troupe::llm
