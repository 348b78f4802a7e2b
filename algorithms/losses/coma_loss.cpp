#include "algorithms/losses/coma_loss.hpp"

namespace troupe {

void counterfactual_advantages(const counterfactual_rows& in, float* advantage) {
  const float* q = in.q;
  const float* probability = in.probability;
  for (int row = 0; row < in.rows; ++row, q += in.actions, probability += in.actions) {
    // Probabilities sum to 1, so the advantage is the mean of Q(u) - Q(u'). Where all values are
    // large, these differences keep digits that the difference of two sums would lose.
    const double taken = q[in.choice[row]];
    double sum = 0.0;
    for (int u = 0; u < in.actions; ++u) sum += probability[u] * (taken - q[u]);
    advantage[row] = static_cast<float>(sum);
  }
}

variable coma_critic_loss(variable q, std::span<const std::int64_t> choice, variable target) {
  return mean(square(gather(q, choice) - target));
}

}  // namespace troupe
