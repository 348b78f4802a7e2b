#pragma once
// The optimiser RMSprop, with gradient clipping.
#include <cstdint>
#include <span>
#include <vector>

namespace troupe {

/// Options of RMSprop. The defaults are those of Stable-Baselines3's A2C.
struct rmsprop_options {
  double alpha = 0.99;  ///< The decay of the mean square.
  double eps = 1e-5;    ///< Added to the root of the mean square.
  /// The gradient's Euclidean norm is clipped to this; 0 means no clipping.
  double max_grad_norm = 0.5;
  /// If true, eps is added inside the root, and the mean square begins at 1.
  bool tensorflow_like = false;
};

/// Everything that the next step depends on besides the parameters and the gradient.
struct rmsprop_state {
  std::int64_t step = 0;
  std::vector<float> mean_square;  ///< [P]

  bool operator==(const rmsprop_state&) const = default;
};

/// RMSprop over one flat block of P parameters, without momentum (Tieleman and Hinton 2012, lecture
/// 6.5). It has PyTorch's form (torch.optim.RMSprop), or that of TensorFlow 1, which
/// Stable-Baselines3 calls RMSpropTFLike. Like adam, it clips the global gradient norm.
class rmsprop {
 public:
  explicit rmsprop(std::size_t parameter_count, rmsprop_options options = {});

  /// Takes one step with learning rate `lr`, as adam::step does.
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
