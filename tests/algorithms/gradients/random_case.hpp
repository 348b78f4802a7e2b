#pragma once
// Random networks, batches and settings, and how far two gradients are apart. Comes after
// actors/torch/torch.hpp.

#include <ATen/core/Tensor.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "actors/networks/mlp.hpp"
#include "actors/networks/network.hpp"
#include "actors/random/action_random.hpp"
#include "algorithms/off_policy/transition_batch.hpp"

namespace troupe {

struct case_random : action_random {
  using action_random::action_random;
  int between(int low, int high) { return low + static_cast<int>(below(high - low + 1)); }
  double between(double low, double high) { return low + (high - low) * uniform(); }
  bool flip() { return next() >> 63; }
};

/// Up to three hidden layers, a tenth of the cases with wide ones; an activation that has a
/// hand-written gradient.
inline network_options random_network(case_random& random) {
  constexpr activation kinds[] = {activation::tanh, activation::relu, activation::elu,
                                  activation::leaky_relu, activation::linear};
  network_options options{.hidden = {}, .hidden_activation = kinds[random.below(5)]};
  options.ortho_init = random.flip();
  const int widest = random.below(10) == 0 ? 280 : 70;
  const int layers = random.between(0, 3);
  for (int i = 0; i < layers; ++i) options.hidden.push_back(random.between(1, widest));
  return options;
}

inline transition_batch random_batch(case_random& random, const network_shape& shape) {
  transition_batch batch;
  batch.resize(random.between(1, 130), shape);
  for (auto* column : {&batch.obs, &batch.next_obs, &batch.reward}) random.fill_normal(*column);
  for (auto& a : batch.action) a = static_cast<float>(random.between(-1.0, 1.0));
  for (auto& c : batch.choice) c = random.between(0, shape.discrete_actions - 1);
  for (auto& t : batch.terminated) t = random.below(5) == 0 ? 1.0f : 0.0f;
  for (auto& d : batch.discount) d = static_cast<float>(random.between(0.8, 1.0));
  if (random.flip()) {
    batch.weight.resize(batch.rows);
    for (auto& w : batch.weight) w = static_cast<float>(random.between(0.05, 1.0));
  }
  return batch;
}

/// Moves each number by a tenth of a standard normal.
inline void disturb(case_random& random, std::vector<float>& numbers) {
  for (auto& x : numbers) x += static_cast<float>(0.1 * random.normal());
}

/// A copy in double precision.
inline at::Tensor in_double(std::span<const float> numbers) {
  return at::from_blob(const_cast<float*>(numbers.data()),
                       {static_cast<std::int64_t>(numbers.size())}, at::kFloat)
      .to(at::kDouble);
}

/// |a - reference| / |reference|, Euclidean norms; 0 where both are 0.
inline double relative_distance(std::span<const float> a, const at::Tensor& reference) {
  const double size = reference.norm().item<double>();
  const double distance = (in_double(a) - reference).norm().item<double>();
  return distance == 0.0 ? 0.0 : distance / size;
}

/// How near the arithmetic comes to a kink of relu, leaky relu or a comparison, where single and
/// double precision may rightly take different sides and have different gradients: the smallest
/// distance from it, seen while a case was worked out in double.
class kink_watch {
 public:
  void see(const at::Tensor& distance) {
    if (distance.numel() == 0) return;
    nearest_ = std::min(nearest_, distance.detach().abs().min().item<double>());
  }
  /// The hidden units of `net` for x [N, inputs].
  void see(const detail::mlp& net, const at::Tensor& parameters, at::Tensor x) {
    const auto kind = net.hidden_activation();
    if (kind != activation::relu && kind != activation::leaky_relu) return;
    for (std::size_t i = 0; i + 1 < net.layers().size(); ++i) {
      const auto& layer = net.layers()[i];
      const auto weight = parameters.narrow(0, layer.weight, std::int64_t{layer.in} * layer.out);
      const auto before = at::mm(x, weight.view({layer.in, layer.out})) +
                          parameters.narrow(0, layer.bias, layer.out);
      see(before);
      x = kind == activation::relu ? at::relu(before) : at::leaky_relu(before, 0.01);
    }
  }
  /// A gradient that is the small rest of large terms has no more right digits in single precision
  /// than libtorch's own, whose distance from the double one this is.
  void see_rounding(double libtorch_distance) {
    if (libtorch_distance > 5e-6) nearest_ = 0.0;
  }
  bool too_near() const { return nearest_ < 3e-6; }

 private:
  double nearest_ = std::numeric_limits<double>::infinity();
};

}  // namespace troupe
