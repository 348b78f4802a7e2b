#pragma once
// The first part of a network, on whose features actor and critic stand.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "actors/networks/conv_trunk.hpp"
#include "actors/networks/encoder.hpp"
#include "actors/networks/mlp.hpp"
#include "actors/networks/network.hpp"
#include "actors/random/action_random.hpp"

namespace troupe::detail {

/// The work memory of feature_extractor::infer. Each thread needs its own.
struct extractor_buffers {
  mlp_buffers layers;
  std::unique_ptr<encoder_pass> encoder;
};

/// Maps observations to features. It is one of three:
///
/// - Convolutions. An image goes through convolutions. Of a Dict or Tuple, each image goes through
///   convolutions of its own and every other part is taken as it is, and the features are the
///   results in the order of the parts, as in Stable-Baselines3's CombinedExtractor.
/// - The hidden layers that actor and critic share.
/// - A user's encoder.
///
/// The class has no state; each call gets the parameters as a flat block, that of each image one
/// after the other.
class feature_extractor {
 public:
  /// Throws std::invalid_argument as conv_trunk does; its message then names the part.
  feature_extractor(const network_shape& shape, const cnn_options& options);
  explicit feature_extractor(mlp shared_layers);
  explicit feature_extractor(std::shared_ptr<const troupe::encoder> encoder);

  bool has_convolutions() const { return !layers_ && !encoder_; }
  const std::optional<mlp>& layers() const { return layers_; }
  const troupe::encoder* encoder() const { return encoder_.get(); }
  /// Returns why Troupe's kernels can't compute its gradient; empty if they can.
  std::string obstacle() const;

  std::int64_t parameter_count() const { return parameter_count_; }
  int inputs() const { return inputs_; }      ///< D
  int features() const { return features_; }  ///< F

  /// Initialises all weights, as conv_trunk does.
  void initialise(action_random& random, bool orthogonal, float* parameters) const;

  /// Returns the features [rows, F] of x [rows, D] without autograd, on the CPU. They are valid
  /// until the next call. Not for convolutions, which `forward` computes.
  const float* infer(const float* parameters, const float* x, int rows,
                     extractor_buffers& buffers) const;

  /// Returns views of a flat block [parameter_count()]: the weight and the bias of each layer in
  /// turn, those of its layer norm behind them, or the parameters of an encoder.
  std::vector<at::Tensor> parts(const at::Tensor& block) const;
  /// Returns the names of these tensors: "trunk.0.weight", "trunk.0.bias", ... for an image, and
  /// those of Stable-Baselines3 for the image of a key,
  /// "features_extractor.extractors.KEY.cnn.0.weight", ... and
  /// "features_extractor.extractors.KEY.linear.0.weight". Those of shared layers are
  /// "shared.0.weight", ..., and those of an encoder have "encoder." before the names that it
  /// gives.
  std::vector<std::string> part_names() const;

  /// Returns the features [N, F] of obs float [N, D] by libtorch's operators. Not for an encoder,
  /// which a graph computes.
  at::Tensor forward(const std::vector<at::Tensor>& parts, const at::Tensor& obs) const;

 private:
  struct input {
    std::string name;  // empty for an image that is the whole observation
    int offset, size;
    std::optional<conv_trunk> trunk;
  };

  std::vector<input> inputs_of_;
  std::optional<mlp> layers_;
  std::shared_ptr<const troupe::encoder> encoder_;
  int inputs_ = 0;
  int features_ = 0;
  std::int64_t parameter_count_ = 0;
};

/// Returns the extractor of a network that has_convolutions, shared layers or an encoder, otherwise
/// none. Throws std::invalid_argument as its constructors and make_encoder do, for images with
/// normalize_obs, for two of the three together, and for an encoder on a GPU.
std::optional<feature_extractor> make_extractor(const network_shape& shape,
                                                const network_options& options);

}  // namespace troupe::detail
