#include "actors/torch/torch.hpp"

#include "actors/llm/training/lora.hpp"

#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>
#include <cmath>

#include "actors/llm/model/flat_weights.hpp"

namespace troupe::llm {
namespace {

using at::Tensor;

struct layer_shape {
  std::int64_t outputs, inputs;
};

layer_shape shape_of(const model_config& c, projection which) {
  switch (which) {
    case projection::q:
      return {c.q_size(), c.hidden_size};
    case projection::k:
    case projection::v:
      return {c.kv_size(), c.hidden_size};
    case projection::o:
      return {c.hidden_size, c.q_size()};
    case projection::gate:
    case projection::up:
      return {c.intermediate_size, c.hidden_size};
    case projection::down:
      break;
  }
  return {c.hidden_size, c.intermediate_size};
}

Tensor& weight_of(layer_weights& w, projection which) {
  constexpr Tensor layer_weights::* members[projections] = {
      &layer_weights::q,    &layer_weights::k,  &layer_weights::v,   &layer_weights::o,
      &layer_weights::gate, &layer_weights::up, &layer_weights::down};
  return w.*members[static_cast<std::size_t>(which)];
}

// The targets in the order of the block.
std::vector<projection> checked_targets(const lora_options& options) {
  const auto refuse = [](const std::string& what, const auto& got) {
    throw std::invalid_argument("lora: expected " + what + ", got " + c10::str(got));
  };
  auto targets = options.targets;
  std::ranges::sort(targets);
  if (targets.empty()) refuse("one target or more", "none");
  if (std::ranges::adjacent_find(targets) != targets.end()) refuse("each target once", "one twice");
  if (options.rank < 1) refuse("a rank of 1 or more", options.rank);
  if (!(options.alpha > 0.0) || !std::isfinite(options.alpha))
    refuse("an alpha above 0", options.alpha);
  return targets;
}

// Calls visit(layer, target, shape) for each adapter in the order of the block.
template <class Visit>
void for_each_adapter(const model_config& config, const lora_options& options, Visit visit) {
  const auto targets = checked_targets(options);
  for (std::int64_t layer = 0; layer < config.layers; ++layer) {
    for (const auto which : targets) visit(std::size_t(layer), which, shape_of(config, which));
  }
}

adapter& adapter_of(adapter_weights& weights, std::size_t layer, projection which) {
  return weights.layers[layer][static_cast<std::size_t>(which)];
}

}  // namespace

std::int64_t adapter_count(const model_config& config, const lora_options& options) {
  std::int64_t count = 0;
  for_each_adapter(config, options, [&](std::size_t, projection, const layer_shape& shape) {
    count += options.rank * (shape.inputs + shape.outputs);
  });
  return count;
}

adapter_weights adapters_in(const model_config& config, const lora_options& options,
                            const Tensor& flat) {
  check_flat(flat, adapter_count(config, options), "lora: adapters");
  adapter_weights found{options.alpha / static_cast<double>(options.rank), {}};
  found.layers.resize(std::size_t(config.layers));
  std::int64_t begin = 0;
  const auto next = [&](std::int64_t rows, std::int64_t columns) {
    const auto view = flat.narrow(0, begin, rows * columns).view({rows, columns});
    begin += rows * columns;
    return view;
  };
  for_each_adapter(config, options,
                   [&](std::size_t layer, projection which, const layer_shape& shape) {
                     auto& one = adapter_of(found, layer, which);
                     one.a = next(options.rank, shape.inputs);
                     one.b = next(shape.outputs, options.rank);
                   });
  return found;
}

Tensor initial_adapters(const model_config& config, const lora_options& options,
                        std::uint64_t seed) {
  auto flat = at::zeros({adapter_count(config, options)});
  auto generator = at::detail::createCPUGenerator(seed);
  auto adapters = adapters_in(config, options, flat);
  for_each_adapter(config, options,
                   [&](std::size_t layer, projection which, const layer_shape& shape) {
                     const double bound = 1.0 / std::sqrt(static_cast<double>(shape.inputs));
                     adapter_of(adapters, layer, which).a.uniform_(-bound, bound, generator);
                   });
  return flat;
}

trained_adapters train_adapters(const model_config& config, const lora_options& options,
                                Tensor parameters) {
  trained_adapters trained{std::move(parameters).detach(), {}, {}};
  trained.weights = adapters_in(config, options, trained.parameters);
  trained.gradient = at::zeros_like(trained.parameters);
  auto gradients = adapters_in(config, options, trained.gradient);
  for_each_adapter(config, options, [&](std::size_t layer, projection which, const layer_shape&) {
    auto& one = adapter_of(trained.weights, layer, which);
    const auto& gradient = adapter_of(gradients, layer, which);
    one.a = trained_view(one.a, gradient.a);
    one.b = trained_view(one.b, gradient.b);
  });
  return trained;
}

Tensor merge_adapters(const model_config& config, const lora_options& options,
                      const Tensor& weights, const Tensor& adapters) {
  const at::NoGradGuard off;
  auto merged = weights.clone();
  auto places = weights_in(config, merged);
  auto added = adapters_in(config, options, adapters);
  for_each_adapter(config, options, [&](std::size_t layer, projection which, const layer_shape&) {
    const auto& one = adapter_of(added, layer, which);
    weight_of(places.layers[layer], which).addmm_(one.b, one.a, 1.0, added.scale);
  });
  return merged;
}

}  // namespace troupe::llm
