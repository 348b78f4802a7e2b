#pragma once
// The first part of a network that sees images, alone or beside other numbers.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "actors/networks/conv_trunk.hpp"
#include "actors/networks/network.hpp"
#include "actors/random/action_random.hpp"

namespace troupe::detail {

/// Maps observations to features. An image goes through convolutions. Of a Dict or Tuple, each
/// image goes through convolutions of its own and every other part is taken as it is, and the
/// features are the results in the order of the parts, as in Stable-Baselines3's CombinedExtractor.
/// The class has no state; each call gets the parameters as a flat block, that of each image one
/// after the other.
class feature_extractor {
 public:
  /// Throws std::invalid_argument as conv_trunk does; its message then names the part.
  feature_extractor(const network_shape& shape, const cnn_options& options);

  std::int64_t parameter_count() const { return parameter_count_; }
  int inputs() const { return inputs_; }      ///< D
  int features() const { return features_; }  ///< F

  /// Initialises all weights, as conv_trunk does.
  void initialise(action_random& random, bool orthogonal, float* parameters) const;

  /// Returns views of a flat block [parameter_count()]: the weight and the bias of each layer in
  /// turn.
  std::vector<at::Tensor> parts(const at::Tensor& block) const;
  /// Returns the names of these tensors: "trunk.0.weight", "trunk.0.bias", ... for an image, and
  /// those of Stable-Baselines3 for the image of a key,
  /// "features_extractor.extractors.KEY.cnn.0.weight", ... and
  /// "features_extractor.extractors.KEY.linear.0.weight".
  std::vector<std::string> part_names() const;

  /// Returns the features [N, F] of obs float [N, D].
  at::Tensor forward(const std::vector<at::Tensor>& parts, const at::Tensor& obs) const;

 private:
  struct input {
    std::string name;  // empty for an image that is the whole observation
    int offset, size;
    std::optional<conv_trunk> trunk;
  };

  std::vector<input> inputs_of_;
  int inputs_ = 0;
  int features_ = 0;
  std::int64_t parameter_count_ = 0;
};

/// Returns the extractor of a network that has_convolutions, otherwise none. Throws
/// std::invalid_argument as its constructor does, and for images with normalize_obs.
std::optional<feature_extractor> make_extractor(const network_shape& shape,
                                                const network_options& options);

}  // namespace troupe::detail
