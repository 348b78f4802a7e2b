#include "actors/torch/torch.hpp"

#include "actors/networks/feature_extractor.hpp"

#include <stdexcept>

namespace troupe::detail {
namespace {

conv_trunk trunk_of(const obs_part& part, const cnn_options& options) {
  try {
    return {part.image, options, part.interleaved, part.image_high};
  } catch (const std::invalid_argument& e) {
    if (part.name.empty()) throw;
    throw std::invalid_argument("observation \"" + part.name + "\": " + e.what());
  }
}

/// Throws std::invalid_argument if a part's name can't name tensors of a model file.
void require_name(const std::string& name) {
  constexpr std::size_t longest = 200;
  if (name.size() > longest)
    throw std::invalid_argument("observation \"" + name.substr(0, 40) +
                                "..\": expected a key of at most 200 bytes for an image");
}

}  // namespace

feature_extractor::feature_extractor(const network_shape& shape, const cnn_options& options)
    : inputs_(shape.obs_size) {
  auto parts = shape.parts;
  if (parts.empty())
    parts = {{"", 0, shape.obs_size, shape.image, shape.interleaved, shape.image_high}};
  for (const auto& part : parts) {
    auto& made = inputs_of_.emplace_back(input{part.name, part.offset, part.size, {}});
    if (part.image.empty()) {
      features_ += part.size;
      continue;
    }
    made.trunk = trunk_of(part, options);
    require_name(part.name);
    for (const auto& other : inputs_of_) {
      if (&other != &made && other.trunk && other.name == part.name)
        throw std::invalid_argument("observation: expected images of different names, got two \"" +
                                    part.name + "\"; a key must not have a dot");
    }
    features_ += made.trunk->features();
    parameter_count_ += made.trunk->parameter_count();
  }
}

void feature_extractor::initialise(action_random& random, bool orthogonal,
                                   float* parameters) const {
  for (const auto& each : inputs_of_) {
    if (!each.trunk) continue;
    each.trunk->initialise(random, orthogonal, parameters);
    parameters += each.trunk->parameter_count();
  }
}

std::vector<at::Tensor> feature_extractor::parts(const at::Tensor& block) const {
  std::vector<at::Tensor> all;
  std::int64_t first = 0;
  for (const auto& each : inputs_of_) {
    if (!each.trunk) continue;
    const auto count = each.trunk->parameter_count();
    const auto own = each.trunk->parts(block.narrow(0, first, count));
    all.insert(all.end(), own.begin(), own.end());
    first += count;
  }
  return all;
}

std::vector<std::string> feature_extractor::part_names() const {
  std::vector<std::string> names;
  const auto add = [&](const std::string& layer) {
    names.push_back(layer + ".weight");
    names.push_back(layer + ".bias");
  };
  for (const auto& each : inputs_of_) {
    if (!each.trunk) continue;
    const auto convolutions = each.trunk->convolutions();
    if (each.name.empty()) {
      for (std::size_t i = 0; i <= convolutions; ++i) add("trunk." + std::to_string(i));
      continue;
    }
    const auto extractor = "features_extractor.extractors." + each.name;
    // A ReLU without weights follows each convolution there.
    for (std::size_t i = 0; i < convolutions; ++i) add(extractor + ".cnn." + std::to_string(2 * i));
    add(extractor + ".linear.0");
  }
  return names;
}

at::Tensor feature_extractor::forward(const std::vector<at::Tensor>& parts,
                                      const at::Tensor& obs) const {
  TORCH_CHECK(obs.dim() == 2 && obs.size(1) == inputs_, "observations must be [N, ", inputs_,
              "], got ", obs.sizes());
  std::vector<at::Tensor> features;
  auto first = parts.begin();
  for (const auto& each : inputs_of_) {
    const auto seen = obs.narrow(1, each.offset, each.size);
    if (!each.trunk) {
      features.push_back(seen);
      continue;
    }
    const auto last = first + static_cast<std::ptrdiff_t>(2 * (each.trunk->convolutions() + 1));
    features.push_back(each.trunk->forward({first, last}, seen));
    first = last;
  }
  return features.size() == 1 ? features[0] : at::cat(features, 1);
}

std::optional<feature_extractor> make_extractor(const network_shape& shape,
                                                const network_options& options) {
  if (!has_convolutions(shape, options)) return std::nullopt;
  if (options.normalize_obs) {
    throw std::invalid_argument("network (" + to_string(shape, options) +
                                "): expected normalize_obs of false, for images are scaled as they "
                                "are");
  }
  return feature_extractor(shape, options.cnn);
}

}  // namespace troupe::detail
