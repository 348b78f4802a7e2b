#include "actors/torch/torch.hpp"

#include "algorithms/losses/ppo_loss_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace troupe {

ppo_loss_metrics ppo_loss_with_gradient(const ppo_loss_rows& in, const ppo_loss_options& options,
                                        const ppo_loss_derivatives& out) {
  const auto clip_range = static_cast<float>(options.clip_range);
  const auto cap = static_cast<float>(options.importance_cap);
  const auto vf_range = static_cast<float>(options.clip_range_vf.value_or(0.0));
  const bool larger = options.clip_vf_loss == value_clipping::larger;
  const auto delta =
      static_cast<float>(options.huber_delta.value_or(std::numeric_limits<double>::infinity()));
  const auto acted =
      in.acted ? std::count_if(in.acted, in.acted + in.rows, [](auto one) { return one != 0; })
               : in.rows;
  const float share = 1.0f / static_cast<float>(in.rows);
  const float policy_share = 1.0f / static_cast<float>(std::max<std::ptrdiff_t>(acted, 1));
  const auto vf_coef = static_cast<float>(options.vf_coef);

  double surrogate_sum = 0.0, value_sum = 0.0, entropy_sum = 0.0, kl_sum = 0.0, weight_sum = 0.0;
  int clipped_count = 0;
  const auto of_policy = [&](int i) {
    const float behaviour = in.behaviour_log_prob[i];
    const float proximal = in.proximal_log_prob ? in.proximal_log_prob[i] : behaviour;
    const float weight =
        std::min(in.proximal_log_prob ? std::exp(proximal - behaviour) : 1.0f, cap);
    const float log_ratio = in.log_prob[i] - proximal;
    const float ratio = std::exp(log_ratio);
    const float advantage = in.advantage[i];

    // min(r A, clip(r) A) has no gradient if the clipped side is smaller; else d r = r d log p.
    const float clipped = std::clamp(ratio, 1.0f - clip_range, 1.0f + clip_range);
    const bool held = clipped * advantage < ratio * advantage;
    const float surrogate = (held ? clipped : ratio) * advantage;
    out.log_prob[i] = held ? 0.0f : -policy_share * weight * ratio * advantage;
    out.entropy[i] = -policy_share * static_cast<float>(options.ent_coef);

    surrogate_sum += static_cast<double>(weight) * surrogate;
    entropy_sum += in.entropy[i];
    kl_sum += (ratio - 1.0f) - log_ratio;
    weight_sum += weight;
    clipped_count += std::abs(ratio - 1.0f) > clip_range;
  };
  for (int i = 0; i < in.rows; ++i) {
    if (in.acted && !in.acted[i]) {
      out.log_prob[i] = out.entropy[i] = 0.0f;
    } else {
      of_policy(i);
    }

    float error = in.value[i] - in.returns[i];
    bool value_held = false;
    if (options.clip_range_vf) {
      const float change = in.value[i] - in.old_value[i];
      const float clipped =
          in.old_value[i] + std::clamp(change, -vf_range, vf_range) - in.returns[i];
      value_held = std::abs(change) > vf_range && (!larger || std::abs(clipped) > std::abs(error));
      if (value_held || !larger) error = clipped;
    }
    // 2 d e, or beyond delta 2 d delta sign(e)
    const float slope = std::clamp(error, -delta, delta);
    out.value[i] = value_held ? 0.0f : 2.0f * share * vf_coef * slope;
    value_sum += slope == error ? static_cast<double>(error) * error
                                : static_cast<double>(delta) * (2 * std::abs(error) - delta);
  }

  const auto count = static_cast<double>(std::max<std::ptrdiff_t>(acted, 1));
  ppo_loss_metrics metrics{.policy_gradient_loss = -surrogate_sum / count,
                           .value_loss = value_sum / in.rows,
                           .entropy_loss = -entropy_sum / count,
                           .approx_kl = kl_sum / count,
                           .clip_fraction = clipped_count / count,
                           .importance_weight = weight_sum / count};
  metrics.loss = metrics.policy_gradient_loss + options.ent_coef * metrics.entropy_loss +
                 options.vf_coef * metrics.value_loss;
  return metrics;
}

}  // namespace troupe
