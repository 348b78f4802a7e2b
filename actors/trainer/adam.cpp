#include "actors/trainer/adam.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "actors/kernels/cpu_clones.hpp"
#include "actors/kernels/flush_denormals.hpp"
#include "actors/trainer/gradient_norm.hpp"

namespace troupe {
namespace {

struct step_constants {
  float gradient_scale, beta1, beta2, one_minus_beta1, one_minus_beta2;
  float step_size;           // lr / (1 - beta1^t)
  float inverse_correction;  // 1 / sqrt(1 - beta2^t)
  float eps;
  float kept;  // 1 - lr * weight_decay
};

// m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2;
// p = kept p - lr_t m / (sqrt(v) / sqrt(1 - b2^t) + eps)
TROUPE_CPU_CLONES void update(std::size_t count, const step_constants& constants,
                              const float* __restrict gradient, float* __restrict first,
                              float* __restrict second, float* __restrict parameters) {
  const step_constants c = constants;
  for (std::size_t i = 0; i < count; ++i) {
    const float g = gradient[i] * c.gradient_scale;
    const float m = c.beta1 * first[i] + c.one_minus_beta1 * g;
    const float v = c.beta2 * second[i] + c.one_minus_beta2 * g * g;
    first[i] = m;
    second[i] = v;
    parameters[i] =
        c.kept * parameters[i] - c.step_size * m / (std::sqrt(v) * c.inverse_correction + c.eps);
  }
}

void check_size(const char* what, std::size_t got, std::size_t expected) {
  if (got == expected) return;
  throw std::invalid_argument(std::string("adam: ") + what + " of size " + std::to_string(got) +
                              ", expected " + std::to_string(expected));
}

}  // namespace

adam::adam(std::size_t parameter_count, adam_options options,
           std::vector<parameter_range> undecayed)
    : options_(options), undecayed_(std::move(undecayed)) {
  std::size_t end = 0;
  for (const auto& each : undecayed_) {
    if (each.first < end || each.first + each.count > parameter_count) {
      throw std::invalid_argument("adam: expected undecayed parameters in order and below " +
                                  std::to_string(parameter_count) + ", got " +
                                  std::to_string(each.count) + " from " +
                                  std::to_string(each.first) + " on");
    }
    end = each.first + each.count;
  }
  state_.first_moment.resize(parameter_count);
  state_.second_moment.resize(parameter_count);
}

double adam::step(std::span<float> parameters, std::span<const float> gradient, double lr) {
  const auto count = state_.first_moment.size();
  check_size("parameters", parameters.size(), count);
  check_size("gradient", gradient.size(), count);
  const detail::flush_denormals flush;

  const auto clipped = clip_gradient(gradient, options_.max_grad_norm);
  if (!clipped.usable) return std::numeric_limits<double>::infinity();

  ++state_.step;
  const auto t = static_cast<double>(state_.step);
  step_constants constants{
      .gradient_scale = static_cast<float>(clipped.scale),
      .beta1 = static_cast<float>(options_.beta1),
      .beta2 = static_cast<float>(options_.beta2),
      .one_minus_beta1 = static_cast<float>(1.0 - options_.beta1),
      .one_minus_beta2 = static_cast<float>(1.0 - options_.beta2),
      .step_size = static_cast<float>(lr / (1.0 - std::pow(options_.beta1, t))),
      .inverse_correction = static_cast<float>(1.0 / std::sqrt(1.0 - std::pow(options_.beta2, t))),
      .eps = static_cast<float>(options_.eps),
      .kept = static_cast<float>(1.0 - lr * options_.weight_decay)};
  std::size_t done = 0;
  const auto update_to = [&](std::size_t end) {
    update(end - done, constants, gradient.data() + done, state_.first_moment.data() + done,
           state_.second_moment.data() + done, parameters.data() + done);
    done = end;
  };
  const float kept = constants.kept;
  for (const auto& each : undecayed_) {
    if (kept == 1.0f) break;
    update_to(each.first);
    constants.kept = 1.0f;
    update_to(each.first + each.count);
    constants.kept = kept;
  }
  update_to(count);
  return clipped.norm;
}

void adam::check(const adam_state& state) const {
  check_size("first moment", state.first_moment.size(), state_.first_moment.size());
  check_size("second moment", state.second_moment.size(), state_.second_moment.size());
}

void adam::set_state(adam_state state) {
  check(state);
  state_ = std::move(state);
}

}  // namespace troupe
