#include "actors/trainer/rmsprop.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "actors/kernels/cpu_clones.hpp"
#include "actors/kernels/flush_denormals.hpp"
#include "actors/trainer/gradient_norm.hpp"

namespace troupe {
namespace {

struct step_constants {
  float gradient_scale, alpha, one_minus_alpha, lr;
  float eps_inside, eps_outside;  // Added inside and outside of the root.
};

// v = a v + (1 - a) g^2;  p -= lr g / (sqrt(v + eps_inside) + eps_outside)
TROUPE_CPU_CLONES void update(std::size_t count, const step_constants& constants,
                              const float* __restrict gradient, float* __restrict mean_square,
                              float* __restrict parameters) {
  const step_constants c = constants;
  for (std::size_t i = 0; i < count; ++i) {
    const float g = gradient[i] * c.gradient_scale;
    const float v = c.alpha * mean_square[i] + c.one_minus_alpha * g * g;
    mean_square[i] = v;
    parameters[i] -= c.lr * g / (std::sqrt(v + c.eps_inside) + c.eps_outside);
  }
}

void check_size(const char* what, std::size_t got, std::size_t expected) {
  if (got == expected) return;
  throw std::invalid_argument(std::string("rmsprop: ") + what + " of size " + std::to_string(got) +
                              ", expected " + std::to_string(expected));
}

}  // namespace

rmsprop::rmsprop(std::size_t parameter_count, rmsprop_options options) : options_(options) {
  state_.mean_square.assign(parameter_count, options.tensorflow_like ? 1.0f : 0.0f);
}

double rmsprop::step(std::span<float> parameters, std::span<const float> gradient, double lr) {
  const auto count = state_.mean_square.size();
  check_size("parameters", parameters.size(), count);
  check_size("gradient", gradient.size(), count);
  const detail::flush_denormals flush;
  const auto clipped = clip_gradient(gradient, options_.max_grad_norm);
  if (!clipped.usable) return std::numeric_limits<double>::infinity();

  ++state_.step;
  const auto eps = static_cast<float>(options_.eps);
  const step_constants constants{.gradient_scale = static_cast<float>(clipped.scale),
                                 .alpha = static_cast<float>(options_.alpha),
                                 .one_minus_alpha = static_cast<float>(1.0 - options_.alpha),
                                 .lr = static_cast<float>(lr),
                                 .eps_inside = options_.tensorflow_like ? eps : 0.0f,
                                 .eps_outside = options_.tensorflow_like ? 0.0f : eps};
  update(count, constants, gradient.data(), state_.mean_square.data(), parameters.data());
  return clipped.norm;
}

void rmsprop::set_state(rmsprop_state state) {
  check_size("mean square", state.mean_square.size(), state_.mean_square.size());
  state_ = std::move(state);
}

}  // namespace troupe
