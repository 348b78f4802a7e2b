#include "actors/torch/torch.hpp"

#include "actors/networks/named_tensors.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "actors/networks/mlp_autograd.hpp"

namespace troupe {
namespace {

std::string text_of(const std::vector<std::int64_t>& sizes) {
  return fmt::format("[{}]", fmt::join(sizes, ", "));
}

std::string missing(const std::string& name, const std::vector<std::int64_t>& sizes) {
  return fmt::format("{} is missing, expected {}", name, text_of(sizes));
}

std::string mismatch(const std::string& name, const std::vector<std::int64_t>& sizes,
                     const std::vector<std::int64_t>& expected) {
  return fmt::format("{} is {}, expected {}", name, text_of(sizes), text_of(expected));
}

at::Tensor view_of(const tensor_place& place, float* block) {
  return at::from_blob(block + place.offset, place.sizes, place.strides, at::kFloat);
}

}  // namespace

std::int64_t tensor_place::count() const {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
}

void tensor_layout::add(std::string name, std::vector<std::int64_t> sizes) {
  std::vector<std::int64_t> strides(sizes.size(), 1);
  for (std::size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * sizes[i];
  tensors.push_back({std::move(name), count, std::move(sizes), std::move(strides)});
  count += tensors.back().count();
}

void tensor_layout::add_transposed(std::string name, std::int64_t out, std::int64_t in) {
  tensors.push_back({std::move(name), count, {out, in}, {1, out}});
  count += out * in;
}

void tensor_layout::add(const std::string& name, const detail::mlp& net) {
  auto next = detail::layer_part_names(net, name);
  auto part = next.begin();
  for (const auto& layer : net.layers()) {
    add_transposed(*part++, layer.out, layer.in);
    add(*part++, {layer.out});
    if (!layer.is_normalised()) continue;
    add(*part++, {layer.out});
    add(*part++, {layer.out});
  }
}

void tensor_layout::add(const encoder& network, const std::string& prefix) {
  for (const auto& each : network.parameters()) {
    auto name = prefix + "encoder." + each.name;
    if (each.is_layer) {
      add_transposed(std::move(name), each.columns, each.rows);
    } else if (each.rows == 1) {
      add(std::move(name), {each.columns});
    } else {
      add(std::move(name), {each.rows, each.columns});
    }
  }
}

void tensor_layout::add(const detail::feature_extractor& extractor, const std::string& prefix) {
  if (extractor.encoder()) return add(*extractor.encoder(), prefix);
  const auto parts = extractor.parts(at::empty({extractor.parameter_count()}, at::kFloat));
  const auto names = extractor.part_names();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto sizes = parts[i].sizes();
    if (sizes.size() == 2) {
      add_transposed(prefix + names[i], sizes[1], sizes[0]);
    } else {
      add(prefix + names[i], sizes.vec());
    }
  }
}

namespace {

/// The layout of the networks of several policies, one after another.
tensor_layout layout_of_policies(const network_shape& shape, const network_options& options) {
  tensor_layout all;
  for (const auto& policy : shape.policies) {
    auto one = layout_of(shape_of(policy), options);
    for (auto& place : one.tensors) {
      place.name = policy.name + '.' + place.name;
      place.offset += all.count;
      all.tensors.push_back(std::move(place));
    }
    all.count += one.count;
  }
  return all;
}

}  // namespace

tensor_layout layout_of(const network_shape& shape, const network_options& options) {
  if (!shape.policies.empty()) return layout_of_policies(shape, options);
  if (options.kind == network_kind::q_table) {
    tensor_layout table;
    table.add("q_table", {shape.state_count(), shape.discrete_actions});
    return table;
  }
  const auto extractor = detail::make_extractor(shape, options);
  const int inputs = extractor ? extractor->features() : shape.actor_inputs();
  // The critic of an actor_critic sees the rest of the observation beside the features, too.
  const int all_inputs =
      inputs + shape.obs_size - (extractor ? extractor->inputs() : shape.actor_inputs());
  const auto hidden = [&](const std::vector<int>& widths) {
    return hidden_after_body(shape, options, widths);
  };
  const auto top =
      detail::make_mlp(options, inputs, hidden(options.hidden), outputs_of(shape, options));
  tensor_layout made;
  made.add(has_action_values(options.kind) ? "q_net" : "actor", top);
  const auto add_log_std = [&] {
    if (options.use_sde) {
      made.add("log_std", {top.features(), shape.continuous_size});
    } else if (options.kind == network_kind::actor_critic && shape.is_continuous()) {
      made.add("log_std", {shape.continuous_size});
    }
  };
  if (options.kind == network_kind::actor_critic) {
    add_log_std();
    made.add("critic", detail::make_mlp(options, all_inputs,
                                        hidden(options.critic_hidden.value_or(options.hidden)), 1));
    if (extractor) made.add(*extractor);
  } else {
    if (extractor) made.add(*extractor);
    add_log_std();
  }
  if (options.normalize_obs) {
    made.add("obs_mean", {shape.obs_size});
    made.add("obs_inverse_scale", {shape.obs_size});
  }
  return made;
}

named_tensors tensors_of(const tensor_layout& layout, const float* block) {
  named_tensors made;
  for (const auto& place : layout.tensors) {
    auto there = view_of(place, const_cast<float*>(block));
    made.emplace_back(place.name, there.clone(at::MemoryFormat::Contiguous));
  }
  return made;
}

void copy_tensors(const tensor_layout& layout, const named_tensors& from, float* block) {
  std::vector<const at::Tensor*> found;
  for (const auto& place : layout.tensors) {
    const auto at = std::ranges::find(from, place.name, &named_tensors::value_type::first);
    if (at == from.end()) throw std::invalid_argument(missing(place.name, place.sizes));
    if (at->second.sizes() != at::IntArrayRef(place.sizes)) {
      throw std::invalid_argument(mismatch(place.name, at->second.sizes().vec(), place.sizes));
    }
    found.push_back(&at->second);
  }
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < found.size(); ++i) {
    view_of(layout.tensors[i], block).copy_(*found[i]);
  }
}

std::string difference(const tensor_layout& found, const tensor_layout& expected) {
  for (const auto& wanted : expected.tensors) {
    const auto at = std::ranges::find(found.tensors, wanted.name, &tensor_place::name);
    if (at == found.tensors.end()) return missing(wanted.name, wanted.sizes);
    if (at->sizes != wanted.sizes) return mismatch(wanted.name, at->sizes, wanted.sizes);
  }
  for (const auto& there : found.tensors) {
    const auto at = std::ranges::find(expected.tensors, there.name, &tensor_place::name);
    if (at == expected.tensors.end()) {
      return fmt::format("{} is {}, expected no such tensor", there.name, text_of(there.sizes));
    }
  }
  return {};
}

}  // namespace troupe
