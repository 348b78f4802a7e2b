#include "actors/torch/torch.hpp"

#include "actors/networks/feature_extractor.hpp"

#include <numbers>
#include <stdexcept>
#include <utility>

#include "actors/networks/mlp_autograd.hpp"

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

feature_extractor::feature_extractor(mlp shared_layers)
    : layers_(std::move(shared_layers)),
      inputs_(layers_->inputs()),
      features_(layers_->outputs()),
      parameter_count_(static_cast<std::int64_t>(layers_->parameter_count())) {}

feature_extractor::feature_extractor(std::shared_ptr<const troupe::encoder> encoder)
    : encoder_(std::move(encoder)),
      inputs_(encoder_->inputs()),
      features_(encoder_->features()),
      parameter_count_(static_cast<std::int64_t>(encoder_->parameter_count())) {}

std::string feature_extractor::obstacle() const {
  if (layers_) return {};  // actor and critic have the same activation
  return encoder_ ? encoder_->obstacle() : "convolutions have no fused gradient";
}

const float* feature_extractor::infer(const float* parameters, const float* x, int rows,
                                      extractor_buffers& buffers) const {
  if (layers_) return layers_->forward(parameters, x, rows, buffers.layers);
  if (!encoder_) throw std::logic_error("feature_extractor: convolutions, expected forward");
  if (!buffers.encoder) buffers.encoder = encoder_->make_pass();
  return buffers.encoder->features_of(parameters, x, rows);
}

void feature_extractor::initialise(action_random& random, bool orthogonal,
                                   float* parameters) const {
  if (encoder_) return encoder_->initialise(random, orthogonal, parameters);
  if (layers_ && orthogonal) {
    return layers_->initialise_orthogonal(random, std::numbers::sqrt2, parameters);
  }
  if (layers_) return layers_->initialise_uniform(random, parameters);
  for (const auto& each : inputs_of_) {
    if (!each.trunk) continue;
    each.trunk->initialise(random, orthogonal, parameters);
    parameters += each.trunk->parameter_count();
  }
}

std::vector<at::Tensor> feature_extractor::parts(const at::Tensor& block) const {
  if (layers_) return layer_parts(*layers_, block);
  if (encoder_) {
    std::vector<at::Tensor> parameters;
    for (const auto& each : encoder_->parameters()) {
      const auto first = static_cast<std::int64_t>(each.offset);
      const auto count = static_cast<std::int64_t>(each.count());
      parameters.push_back(block.narrow(0, first, count).view({each.rows, each.columns}));
    }
    return parameters;
  }
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
  if (layers_) return layer_part_names(*layers_, "shared");
  std::vector<std::string> names;
  if (encoder_) {
    for (const auto& each : encoder_->parameters()) names.push_back("encoder." + each.name);
    return names;
  }
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
  if (layers_) return detail::forward(*layers_, parts, obs).second;
  if (encoder_) throw std::logic_error("feature_extractor: an encoder, expected a graph");
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
  const auto refuse = [&](const std::string& expected) {
    throw std::invalid_argument("network (" + to_string(shape, options) + "): " + expected);
  };
  const bool convolutions = has_convolutions(shape, options);
  if (!options.shared_hidden.empty()) {
    if (options.kind != network_kind::actor_critic) {
      refuse("expected shared_hidden of [] where actor and critic are trained apart");
    }
    if (convolutions || !options.encoder.empty()) {
      refuse(std::string("expected shared_hidden of [] with ") +
             (convolutions ? "convolutions" : "an encoder") +
             ", whose features actor and critic share");
    }
    return feature_extractor(make_shared_layers(options, shape.actor_inputs()));
  }
  if (!options.encoder.empty()) {
    if (options.device != "cpu") {
      refuse("expected policy.device=cpu with policy.encoder, got " + options.device);
    }
    return feature_extractor(make_encoder(options.encoder, shape.actor_inputs()));
  }
  if (!convolutions) return std::nullopt;
  if (options.normalize_obs) {
    throw std::invalid_argument("network (" + to_string(shape, options) +
                                "): expected normalize_obs of false, for images are scaled as they "
                                "are");
  }
  return feature_extractor(shape, options.cnn);
}

}  // namespace troupe::detail
