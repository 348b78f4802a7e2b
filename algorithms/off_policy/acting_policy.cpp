#include "algorithms/off_policy/acting_policy.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "algorithms/losses/squashed_gaussian.hpp"

namespace troupe {
namespace {

network_options with_kind(network_options options, network_kind kind) {
  options.kind = kind;
  return options;
}

const network_shape& checked(const network_shape& shape, const network_options& options,
                             network_kind kind) {
  const auto positive = [](int size) { return size > 0; };
  const bool fits = has_action_values(kind)
                        ? shape.discrete_actions > 0 && !shape.is_continuous()
                        : shape.continuous_size > 0 && shape.choice_count() == 0;
  const bool can_explore = kind == network_kind::squashed_gaussian || !options.use_sde;
  const bool has_several = !shape.multi_discrete.empty() || shape.multi_binary > 0;
  if (shape.obs_size < 1 || !fits || !can_explore || has_several ||
      !std::ranges::all_of(options.hidden, positive)) {
    throw std::invalid_argument(
        "network (" + to_string(shape, options) + "): expected " +
        (has_action_values(kind) ? "one discrete choice" : "continuous actions") +
        ", obs_size >= 1, positive widths, and use_sde for SAC alone");
  }
  return shape;
}

}  // namespace

acting_policy::acting_policy(const network_shape& shape, const network_options& options,
                             network_kind kind)
    : shape_(checked(shape, options, kind)),
      options_(with_kind(options, kind)),
      stack_(shape, options_, outputs_of(shape, options_),
             kind == network_kind::squashed ? activation::tanh : activation::linear) {
  if (options.use_sde) {
    noise_.emplace(network().features(), shape.continuous_size, options.use_expln);
  }
  parameters_.resize(stack_.parameter_count() + (noise_ ? noise_->size() : 0));
}

void acting_policy::initialise(action_random& random) {
  std::ranges::fill(parameters_, options_.log_std_init);  // the network overwrites its own part
  stack_.initialise(random, options_.ortho_init, has_action_values(kind()) ? 1.0 : 0.01,
                    parameters_.data());
}

void acting_policy::load_parameters(std::span<const float> parameters) {
  if (parameters.size() != parameters_.size()) {
    throw std::invalid_argument("acting policy: " + std::to_string(parameters.size()) +
                                " parameters, expected " + std::to_string(parameters_.size()));
  }
  std::ranges::copy(parameters, parameters_.begin());
}

void acting_policy::set_exploration(double amount) {
  if (!(amount >= 0.0) || !std::isfinite(amount)) {
    throw std::invalid_argument("exploration of " + std::to_string(amount) + ", expected >= 0");
  }
  exploration_ = amount;
}

void acting_policy::act(const float* obs, int rows, action_random& random, bool deterministic,
                        action_rows_out actions) {
  if (noise_) {
    const float* seen = stack_.features_of(parameters_.data(), obs, rows, buffers_);
    const float* mean = network().forward(parameters_.data(), seen, rows, buffers_.top);
    const float* departure = nullptr;
    if (!deterministic) {
      noise_->log_std(log_std().data(), network().features_of(seen, buffers_.top), rows);
      departure = noise_->depart_alone(rows, random);
    }
    const auto count = static_cast<std::size_t>(rows) * shape_.continuous_size;
    detail::squash(mean, departure, count, actions.value);
    return;
  }
  const int width = stack_.outputs();
  float* outputs = detail::grown(outputs_, static_cast<std::size_t>(rows) * width);
  stack_.infer(parameters_.data(), obs, rows, buffers_, outputs);
  const double amount = deterministic ? 0.0 : exploration_;
  if (has_action_values(kind())) {
    const int count = shape_.discrete_actions;
    for (int row = 0; row < rows; ++row) {
      const float* best = outputs + static_cast<std::size_t>(row) * width + (width - count);
      const bool explores = amount > 0.0 && random.uniform() < amount;
      actions.choice[row] = explores ? static_cast<std::int64_t>(random.below(count))
                                     : std::max_element(best, best + count) - best;
    }
  } else if (kind() == network_kind::squashed) {
    const auto count = static_cast<std::size_t>(rows) * width;
    for (std::size_t i = 0; i < count; ++i) {
      const double noise = amount > 0.0 ? amount * random.normal() : 0.0;
      actions.value[i] = std::clamp(outputs[i] + static_cast<float>(noise), -1.0f, 1.0f);
    }
  } else {
    const int size = shape_.continuous_size;
    for (int row = 0; row < rows; ++row) {
      for (int i = 0; i < size; ++i) {
        const double noise = deterministic ? 0.0 : random.normal();
        const double std = std::exp(detail::clamp_log_std(outputs[size + i]));
        *actions.value++ = static_cast<float>(std::tanh(outputs[i] + std * noise));
      }
      outputs += width;
    }
  }
}

}  // namespace troupe
