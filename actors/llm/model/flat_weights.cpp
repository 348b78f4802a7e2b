#include "actors/torch/torch.hpp"

#include "actors/llm/model/flat_weights.hpp"

namespace troupe::llm {
namespace {

std::int64_t elements(const weight_place& place) { return c10::multiply_integers(place.shape); }

std::string shape_text(at::IntArrayRef shape) { return c10::str(shape); }

void check_block(const model_config& config, const at::Tensor& flat) {
  check_flat(flat, weight_count(config), "flat weights");
}

}  // namespace

void check_flat(const at::Tensor& flat, std::int64_t count, const std::string& what) {
  if (flat.defined() && flat.scalar_type() == at::kFloat && flat.is_contiguous() &&
      flat.sizes() == at::IntArrayRef{count})
    return;
  const auto got = !flat.defined() ? "none" : c10::str(flat.scalar_type(), ' ', flat.sizes());
  throw std::invalid_argument(what + ": expected contiguous Float [" + std::to_string(count) +
                              "], got " + got);
}

at::Tensor trained_view(const at::Tensor& view, const at::Tensor& gradient) {
  auto leaf = view.detach().requires_grad_(true);
  leaf.mutable_grad() = gradient;
  return leaf;
}

std::int64_t weight_count(const model_config& config) {
  std::int64_t count = 0;
  model_weights none;
  for_each_weight(config, none,
                  [&](const weight_place& place, at::Tensor&) { count += elements(place); });
  return count;
}

model_weights weights_in(const model_config& config, const at::Tensor& flat) {
  check_block(config, flat);
  model_weights weights;
  std::int64_t begin = 0;
  for_each_weight(config, weights, [&](const weight_place& place, at::Tensor& tensor) {
    tensor = flat.narrow(0, begin, elements(place)).view(place.shape);
    begin += elements(place);
  });
  return weights;
}

at::Tensor flatten_weights(const model_config& config, const model_weights& weights) {
  const at::NoGradGuard off;
  auto flat = at::empty({weight_count(config)});
  auto places = weights_in(config, flat);
  std::vector<at::Tensor> targets;
  for_each_weight(config, places,
                  [&](const weight_place&, at::Tensor& tensor) { targets.push_back(tensor); });
  auto given = weights;
  std::size_t i = 0;
  for_each_weight(config, given, [&](const weight_place& place, at::Tensor& tensor) {
    if (!tensor.defined() || tensor.sizes() != at::IntArrayRef(place.shape))
      throw std::invalid_argument("flat weights: " + place.name + ": expected " +
                                  shape_text(place.shape) + ", got " +
                                  (tensor.defined() ? shape_text(tensor.sizes()) : "none"));
    targets[i++].copy_(tensor);
  });
  return flat;
}

trained_weights train_weights(const model_config& config, at::Tensor parameters) {
  check_block(config, parameters);
  trained_weights trained{std::move(parameters).detach(), {}, {}};
  trained.gradient = at::zeros_like(trained.parameters);
  trained.weights = weights_in(config, trained.parameters);
  auto gradients = weights_in(config, trained.gradient);
  std::vector<at::Tensor> in_order;
  for_each_weight(config, gradients,
                  [&](const weight_place&, at::Tensor& tensor) { in_order.push_back(tensor); });
  std::size_t i = 0;
  for_each_weight(config, trained.weights, [&](const weight_place&, at::Tensor& tensor) {
    tensor = trained_view(tensor, in_order[i++]);
  });
  return trained;
}

}  // namespace troupe::llm
