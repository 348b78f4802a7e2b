#include "algorithms/losses/ppo_loss.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace troupe {
namespace {

/// The squares of errors, which go on as their tangents beyond huber_delta: twice Huber's loss.
variable squares(variable error, const std::optional<double>& huber_delta) {
  if (!huber_delta) return square(error);
  const auto distance = abs(error);
  const auto near = clamp(distance, 0.0f, static_cast<float>(*huber_delta));
  return near * (2.0f * distance - near);
}

/// The loss of each value [N, 1].
variable value_losses(const ppo_loss_inputs& in, const ppo_loss_options& options) {
  const auto loss_of = [&](variable value) {
    return squares(value - in.returns, options.huber_delta);
  };
  if (!options.clip_range_vf) return loss_of(in.value);
  const auto range = static_cast<float>(*options.clip_range_vf);
  const auto clipped = loss_of(clamp(in.value - in.old_value, -range, range) + in.old_value);
  if (options.clip_vf_loss == value_clipping::clipped) return clipped;
  return maximum(loss_of(in.value), clipped);
}

struct weighted_loss {
  variable loss;                   // [1, 1]
  double importance_weight = 1.0;  // the mean
};

/// The share of ratios that are further than `range` from 1.
double clip_fraction(variable ratio, float range) {
  const auto ratios = values(ratio);
  const auto count =
      std::ranges::count_if(ratios, [range](float r) { return std::abs(r - 1.0f) > range; });
  return static_cast<double>(count) / static_cast<double>(ratios.size());
}

}  // namespace

ppo_loss_result ppo_loss(const ppo_loss_inputs& in, const ppo_loss_options& options) {
  const auto acted = [&](variable x) { return in.acted ? select_rows(x, *in.acted) : x; };
  const auto clip_range = static_cast<float>(options.clip_range);

  const auto value_loss = mean(value_losses(in, options));
  const auto weighted_value_loss = static_cast<float>(options.vf_coef) * value_loss;
  if (in.acted && in.acted->empty()) {
    return {weighted_value_loss,
            {.loss = number(weighted_value_loss),
             .value_loss = number(value_loss),
             .importance_weight = 0.0}};
  }
  const auto advantage = acted(in.advantage), proximal = acted(in.proximal_log_prob);
  const auto log_ratio = acted(in.log_prob) - proximal;
  const auto ratio = unbounded_exp(log_ratio);
  const auto clipped = clamp(ratio, 1.0f - clip_range, 1.0f + clip_range);
  const auto surrogate = minimum(ratio * advantage, clipped * advantage);
  const auto [policy_gradient_loss, importance_weight] = [&]() -> weighted_loss {
    const auto cap = static_cast<float>(options.importance_cap);
    if (in.proximal_log_prob == in.behaviour_log_prob) {  // All weights are exp(0).
      const float weight = std::min(1.0f, cap);
      return {-weight * mean(surrogate), weight};
    }
    const auto weight = clamp(unbounded_exp(proximal - acted(in.behaviour_log_prob)), 0.0f, cap);
    return {-mean(weight * surrogate), number(mean(weight))};
  }();
  const auto entropy_loss = -mean(acted(in.entropy));
  auto policy_loss = policy_gradient_loss;
  if (options.ent_coef != 0.0) {
    policy_loss = policy_loss + static_cast<float>(options.ent_coef) * entropy_loss;
  }
  const auto loss = policy_loss + weighted_value_loss;

  return {loss,
          {.loss = number(loss),
           .policy_gradient_loss = number(policy_gradient_loss),
           .value_loss = number(value_loss),
           .entropy_loss = number(entropy_loss),
           .approx_kl = number(mean((ratio - 1.0f) - log_ratio)),
           .clip_fraction = clip_fraction(ratio, clip_range),
           .importance_weight = importance_weight}};
}

}  // namespace troupe
