#include "actors/torch/torch.hpp"

#include "actors/networks/acting_network.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

#include "actors/environments/obs_scale.hpp"
#include "actors/networks/acting_policies.hpp"
#include "actors/networks/actor_critic.hpp"
#include "actors/networks/allowed_choices.hpp"

namespace troupe {

action_scale::action_scale(const space& actions) {
  if (const auto* several = actions.get_if<spaces::tuple>()) {
    for (const auto& part : several->parts) add(part);
  } else {
    add(actions);
  }
}

void action_scale::add(const space& actions) {
  const auto* box = actions.get_if<spaces::box>();
  const auto finite = [](const std::vector<float>& bounds) {
    return std::ranges::all_of(bounds, [](float x) { return std::isfinite(x); });
  };
  if (!box || !finite(box->low) || !finite(box->high)) {
    throw std::invalid_argument("actions: expected actions of a Box with finite bounds, got " +
                                to_string(actions));
  }
  low_.insert(low_.end(), box->low.begin(), box->low.end());
  high_.insert(high_.end(), box->high.begin(), box->high.end());
}

void action_scale::stretch(float* actions, std::size_t rows) const {
  for (std::size_t row = 0; row < rows; ++row, actions += low_.size()) {
    for (std::size_t i = 0; i < low_.size(); ++i) {
      actions[i] = low_[i] + 0.5f * (actions[i] + 1.0f) * (high_[i] - low_[i]);
    }
  }
}

void action_scale::shrink(float* actions, std::size_t rows) const {
  for (std::size_t row = 0; row < rows; ++row, actions += low_.size()) {
    for (std::size_t i = 0; i < low_.size(); ++i) {
      const float range = high_[i] - low_[i];
      const float share = range > 0.0f ? (actions[i] - low_[i]) / range : 0.5f;
      actions[i] = std::clamp(2.0f * share - 1.0f, -1.0f, 1.0f);
    }
  }
}

namespace {

int checked_outputs_of(const network_shape& shape, const network_options& options) {
  const auto kind = options.kind;
  const bool fits = has_action_values(kind) ? shape.discrete_actions > 0
                                            : shape.is_continuous() && shape.choice_count() == 0;
  if (kind == network_kind::q_table) {
    const auto sum = std::accumulate(shape.states.begin(), shape.states.end(), std::int64_t{0});
    if (shape.states.empty() || sum != shape.obs_size || shape.mask_size != 0 ||
        options.normalize_obs) {
      throw std::invalid_argument(
          "a table (" + to_string(shape) +
          "): expected observations of one-hot parts, which are not normalised and have no mask");
    }
    constexpr std::int64_t entries_max = std::int64_t{1} << 28;
    if (fits && shape.state_count() > entries_max / shape.discrete_actions) {
      throw std::invalid_argument(fmt::format("a table ({}): expected at most {} entries, got more",
                                              to_string(shape), entries_max));
    }
  }
  const bool can_explore = kind == network_kind::squashed_gaussian || !options.use_sde;
  if (!fits || !can_explore || kind == network_kind::actor_critic) {
    throw std::invalid_argument("a network of kind " + std::string(to_string(kind)) +
                                " gives no actions for " + to_string(shape, options));
  }
  const bool has_mask = shape.mask_size != 0;
  if (shape.actor_inputs() < 1 ||
      (has_mask && (shape.mask_size != shape.discrete_actions || options.normalize_obs))) {
    throw std::invalid_argument(
        "a network (" + to_string(shape, options) +
        "): expected observations, and an action mask for each choice or none, none with "
        "normalised observations, got a mask of " +
        std::to_string(shape.mask_size));
  }
  return outputs_of(shape, options);
}

/// The shape of the layers. A table has none, and a single input takes no memory.
network_shape stack_shape(const network_shape& shape, const network_options& options) {
  if (options.kind != network_kind::q_table) return shape;
  return {.obs_size = 1, .discrete_actions = shape.discrete_actions};
}

}  // namespace

single_network::single_network(const network_shape& shape, const network_options& options)
    : kind_(options.kind),
      normalize_obs_(options.normalize_obs),
      obs_size_(shape.obs_size),
      masked_(shape.mask_size > 0),
      actions_(shape.is_continuous() ? shape.continuous_size : shape.discrete_actions),
      states_(shape.states),
      net_(stack_shape(shape, options), options, checked_outputs_of(shape, options)) {
  if (kind_ == network_kind::q_table) {
    parameters_.resize(static_cast<std::size_t>(shape.state_count()) *
                       static_cast<std::size_t>(actions_));
    return;
  }
  if (options.use_sde) noise_.emplace(net_.top().features(), actions_, options.use_expln);
  parameters_.resize(net_.parameter_count() + (noise_ ? noise_->size() : 0) +
                     (normalize_obs_ ? 2 * static_cast<std::size_t>(shape.obs_size) : 0));
}

std::int64_t single_network::parameter_count() const {
  return static_cast<std::int64_t>(parameters_.size());
}

void single_network::load_parameters(const at::Tensor& parameters) {
  TORCH_CHECK(parameters.scalar_type() == at::kFloat && parameters.is_contiguous() &&
                  parameters.numel() >= parameter_count(),
              "load_parameters: expected at least ", parameter_count(), " contiguous floats, got ",
              parameters.numel());
  std::copy_n(parameters.data_ptr<float>(), parameters_.size(), parameters_.begin());
  if (kind_ != network_kind::q_table) device_copy_ = net_.device_copy(parameters_.data());
}

/// Takes the largest value in the row of each observation's state.
void single_network::act_by_table(const float* obs, int rows, std::int64_t* choice) const {
  const auto count = static_cast<std::size_t>(actions_);
  for (int row = 0; row < rows; ++row) {
    std::size_t state = 0;
    for (const int size : states_) {
      const auto place = std::max_element(obs, obs + size) - obs;
      state = state * static_cast<std::size_t>(size) + static_cast<std::size_t>(place);
      obs += size;
    }
    choice[row] = detail::best_allowed(parameters_.data() + state * count, nullptr, actions_);
  }
}

void single_network::draw_noise(int rows, action_random& random) {
  if (!noise_) return;
  matrices_.resize(static_cast<std::size_t>(rows) * noise_->size());
  random.fill_normal(matrices_);
}

void single_network::act_with_noise(const float* obs, int rows, action_random& random,
                                    bool deterministic, float* actions) {
  const float* seen = net_.features_of(parameters_.data(), obs, rows, buffers_);
  const float* mean = net_.top().forward(parameters_.data(), seen, rows, buffers_.top);
  const float* departure = nullptr;
  if (!deterministic) {
    const float* phi = net_.top().features_of(seen, buffers_.top);
    noise_->log_std(parameters_.data() + net_.parameter_count(), phi, rows);
    if (matrices_.size() == static_cast<std::size_t>(rows) * noise_->size()) {
      matrix_of_.clear();
      for (int row = 0; row < rows; ++row) {
        matrix_of_.push_back(matrices_.data() + row * noise_->size());
      }
      departure = noise_->depart(phi, rows, matrix_of_.data());
    } else {
      departure = noise_->depart_alone(rows, random);
    }
  }
  detail::squash(mean, departure, static_cast<std::size_t>(rows) * actions_, actions);
}

/// What the network sees of rows [rows, D]: [rows, inputs].
const float* single_network::inputs_of(const float* obs, int rows) {
  const int inputs = net_.inputs();
  if (!normalize_obs_ && inputs == obs_size_) return obs;
  seen_.resize(static_cast<std::size_t>(rows) * inputs);
  if (normalize_obs_) {
    const float* scale = parameters_.data() + parameters_.size() - 2 * inputs;
    detail::scale_obs(obs, rows, inputs, scale, seen_.data());
    return seen_.data();
  }
  float* to = seen_.data();
  for (int row = 0; row < rows; ++row, obs += obs_size_) to = std::copy_n(obs, inputs, to);
  return seen_.data();
}

void single_network::act(const float* obs, int rows, action_random& random, bool deterministic,
                         action_rows_out actions) {
  if (kind_ == network_kind::q_table) return act_by_table(obs, rows, actions.choice);
  const float* seen = inputs_of(obs, rows);
  if (noise_) return act_with_noise(seen, rows, random, deterministic, actions.value);
  const std::size_t width = net_.outputs();
  outputs_.resize(static_cast<std::size_t>(rows) * width);
  net_.infer(parameters_.data(), seen, rows, buffers_, outputs_.data(), device_copy_);
  const float* out = outputs_.data();
  const float* mask = masked_ ? obs + net_.inputs() : nullptr;
  for (int row = 0; row < rows; ++row, out += width) {
    if (has_action_values(kind_)) {  // the last outputs; a dueling network's value comes first
      actions.choice[row] = detail::best_allowed(out + width - actions_, mask, actions_);
      if (mask) mask += obs_size_;
      continue;
    }
    float* action = actions.value + std::ptrdiff_t{row} * actions_;
    for (int i = 0; i < actions_; ++i) {
      float u = out[i];
      if (kind_ == network_kind::squashed_gaussian && !deterministic) {
        const float log_std = std::clamp(out[actions_ + i], -20.0f, 2.0f);
        u += std::exp(log_std) * static_cast<float>(random.normal());
      }
      action[i] = std::tanh(u);
    }
  }
}

namespace {

class acting_actor_critic final : public acting_network {
 public:
  acting_actor_critic(const network_shape& shape, const network_options& options,
                      std::uint64_t seed)
      : network_(shape, options, seed) {
    network_.keep_device_copy();
  }

  void load_parameters(const at::Tensor& parameters) override {
    network_.load_parameters(parameters);
  }
  void act(const float* obs, int rows, action_random& random, bool deterministic,
           action_rows_out actions) override {
    log_prob_.resize(static_cast<std::size_t>(rows));
    value_.resize(static_cast<std::size_t>(rows));
    network_.act(obs, rows, random, deterministic, actions, log_prob_.data(), value_.data());
  }

 private:
  actor_critic network_;
  std::vector<float> log_prob_, value_;
};

class acting_single final : public acting_network {
 public:
  acting_single(const network_shape& shape, const network_options& options, const space& actions)
      : network_(shape, options) {
    if (shape.is_continuous()) scale_ = action_scale(actions);
  }

  void load_parameters(const at::Tensor& parameters) override {
    network_.load_parameters(parameters);
  }
  void act(const float* obs, int rows, action_random& random, bool deterministic,
           action_rows_out actions) override {
    network_.act(obs, rows, random, deterministic, actions);
    if (!scale_.empty()) scale_.stretch(actions.value, static_cast<std::size_t>(rows));
  }

 private:
  single_network network_;
  action_scale scale_;
};

}  // namespace

std::unique_ptr<acting_network> make_acting_network(const network_shape& shape,
                                                    const network_options& options,
                                                    const space& actions, std::uint64_t seed,
                                                    const scripted_policy_maker& script) {
  if (!shape.policies.empty()) {
    return std::make_unique<acting_policies>(shape, options, actions, seed, script);
  }
  if (options.kind == network_kind::actor_critic) {
    return std::make_unique<acting_actor_critic>(shape, options, seed);
  }
  return std::make_unique<acting_single>(shape, options, actions);
}

}  // namespace troupe
