#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace troupe {

/// Defaults are Stable-Baselines3's for A2C.
struct rmsprop_options {
  double alpha = 0.99;           ///< decay of the mean square
  double eps = 1e-5;             ///< added to the root of the mean square
  double max_grad_norm = 0.5;    ///< the gradient's Euclidean norm is cut to this; 0: never
  bool tensorflow_like = false;  ///< eps is added inside the root, and the mean square begins at 1
};

/// All that the next step depends on besides parameters and gradient.
struct rmsprop_state {
  std::int64_t step = 0;
  std::vector<float> mean_square;  ///< [P]

  bool operator==(const rmsprop_state&) const = default;
};

/// RMSprop over one flat block of P parameters, without momentum: Tieleman and Hinton 2012, lecture
/// 6.5, in PyTorch's form (torch.optim.RMSprop), or in TensorFlow 1's, which Stable-Baselines3
/// calls RMSpropTFLike. As adam it clips the global gradient norm.
class rmsprop {
 public:
  explicit rmsprop(std::size_t parameter_count, rmsprop_options options = {});

  /// As adam::step.
  double step(std::span<float> parameters, std::span<const float> gradient, double lr);

  const rmsprop_options& options() const { return options_; }
  const rmsprop_state& state() const { return state_; }
  /// Throws std::invalid_argument if the state is of another size.
  void set_state(rmsprop_state state);

 private:
  rmsprop_options options_;
  rmsprop_state state_;
};

}  // namespace troupe
