#include "actors/torch/torch.hpp"

#include "actors/llm/model/flat_weights.hpp"

#include "actors/llm/model/packed_forward.hpp"
#include "tests/actors/llm/small_models.hpp"
#include "tests/bench/smollm2_shape.hpp"
#include "tests/test.hpp"

namespace troupe::llm {
namespace {

using Catch::Matchers::Contains;

std::vector<at::Tensor> in_order(const model_config& config, model_weights weights) {
  std::vector<at::Tensor> tensors;
  for_each_weight(config, weights,
                  [&](const weight_place&, at::Tensor& tensor) { tensors.push_back(tensor); });
  return tensors;
}

TEST_CASE("flat weights: a model's, flattened and viewed again, are the same bits in order") {
  for (const auto family : every_family) {
    const auto config = small_model(family);
    const auto weights = random_weights(config, 3);
    const auto flat = flatten_weights(config, weights);
    CHECK(flat.sizes() == at::IntArrayRef{weight_count(config)});
    const auto before = in_order(config, weights);
    const auto after = in_order(config, weights_in(config, flat));
    REQUIRE(before.size() == after.size());
    std::vector<at::Tensor> lines;
    for (std::size_t i = 0; i < before.size(); ++i) {
      CHECK(at::equal(before[i], after[i]));
      lines.push_back(before[i].flatten());
    }
    CHECK(at::equal(flat, at::cat(lines)));
    CHECK(at::equal(flatten_weights(config, weights_in(config, flat)), flat));
  }
}

TEST_CASE("flat weights: SmolLM2-135M has 134,515,008") {
  CHECK(weight_count(smollm2_135m()) == 134'515'008);
}

TEST_CASE("flat weights: views write through, and backward adds to the one gradient") {
  const auto config = small_model(model_family::qwen2);
  auto trained = train_weights(config, flatten_weights(config, random_weights(config, 4)));
  trained.parameters[0] = 7.0f;
  CHECK(trained.weights.embedding[0][0].item<float>() == 7.0f);

  const auto loss = [&](const model_weights& weights) {
    return logits_of(config, weights, packed_hidden(config, weights, {{1, 2, 3, 0}, {3, 1}}))
        .logsumexp(-1)
        .sum();
  };
  loss(trained.weights).backward();
  const auto once = trained.gradient.clone();
  CHECK(once.abs().max().item<double>() > 0.0);
  loss(trained.weights).backward();
  CHECK(at::allclose(trained.gradient, 2 * once));

  // The same by leaves of their own.
  auto leaves = weights_in(config, trained.parameters.clone());
  for_each_weight(config, leaves, [](const weight_place&, at::Tensor& tensor) {
    tensor = tensor.detach().requires_grad_(true);
  });
  loss(leaves).backward();
  std::vector<at::Tensor> expected;
  for (const auto& leaf : in_order(config, leaves)) expected.push_back(leaf.grad().flatten());
  CHECK(at::allclose(once, at::cat(expected), 1e-5, 1e-7));
}

TEST_CASE("flat weights: another size, type or shape is refused by name") {
  const auto config = small_model(model_family::llama);
  const auto count = weight_count(config);
  const auto size = '[' + std::to_string(count) + ']';
  CHECK_THROWS_WITH(weights_in(config, at::zeros({count - 1})),
                    Contains("contiguous Float " + size));
  CHECK_THROWS_WITH(weights_in(config, at::zeros({count}, at::kDouble)), Contains("got Double"));
  CHECK_THROWS_WITH(weights_in(config, {}), Contains("got none"));
  CHECK_THROWS_WITH(weights_in(config, at::zeros({2 * count}).slice(0, 0, at::nullopt, 2)),
                    Contains("contiguous"));
  auto weights = random_weights(config, 1);
  weights.layers[1].up = weights.layers[1].up.t();
  CHECK_THROWS_WITH(flatten_weights(config, weights),
                    Contains("model.layers.1.mlp.up_proj.weight"));
  weights.layers[1].up = at::Tensor();
  CHECK_THROWS_WITH(flatten_weights(config, weights), Contains("got none"));
}

}  // namespace
}  // namespace troupe::llm
