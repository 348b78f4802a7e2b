#pragma once
// The optimiser Adam, with gradient clipping.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace troupe {

/// Options of Adam. The defaults are PyTorch's, except for eps and max_grad_norm, which are those
/// of Stable-Baselines3's PPO.
struct adam_options {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-5;  ///< Added to the root of the second moment.
  /// The gradient's Euclidean norm is clipped to this; 0 means no clipping.
  double max_grad_norm = 0.5;
  /// Each step multiplies every parameter by 1 - lr * weight_decay, apart from the gradient
  /// (Loshchilov and Hutter 2019, https://arxiv.org/abs/1711.05101, algorithm 2). Parameters can be
  /// left out.
  double weight_decay = 0.0;
};

/// Some parameters of a block, one after another.
struct parameter_range {
  std::size_t first = 0;
  std::size_t count = 0;

  bool operator==(const parameter_range&) const = default;
};

/// Everything that the next step depends on besides the parameters and the gradient.
struct adam_state {
  std::int64_t step = 0;
  std::vector<float> first_moment;   ///< [P]
  std::vector<float> second_moment;  ///< [P]

  bool operator==(const adam_state&) const = default;
};

/// Adam over one flat block of P parameters, clipping the global gradient norm in the same pass.
/// Kingma and Ba 2015, https://arxiv.org/abs/1412.6980, algorithm 1, in PyTorch's form: equal to
/// torch.nn.utils.clip_grad_norm_ and torch.optim.Adam, with weight decay torch.optim.AdamW.
class adam {
 public:
  /// Weight decay leaves the parameters `undecayed` as they are. Throws std::invalid_argument
  /// unless these are in order and among the P.
  explicit adam(std::size_t parameter_count, adam_options options = {},
                std::vector<parameter_range> undecayed = {});

  /// Takes one step with learning rate `lr`, and returns the gradient's norm before clipping. If
  /// the norm is not finite, nothing changes. Throws std::invalid_argument if the sizes are not P.
  double step(std::span<float> parameters, std::span<const float> gradient, double lr);

  const adam_options& options() const { return options_; }
  const adam_state& state() const { return state_; }
  /// Throws std::invalid_argument if the state is of another size.
  void check(const adam_state& state) const;
  /// Throws like `check`.
  void set_state(adam_state state);

 private:
  adam_options options_;
  std::vector<parameter_range> undecayed_;
  adam_state state_;
};

}  // namespace troupe
