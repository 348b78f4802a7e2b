#include "actors/torch/torch.hpp"

#include "algorithms/losses/coma_loss.hpp"

#include <algorithm>

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

double coma_critic_loss_with_gradient(const coma_critic_rows& in, float* d_q) {
  const float share = 1.0f / static_cast<float>(in.rows);
  std::fill_n(d_q, static_cast<std::ptrdiff_t>(in.rows) * in.actions, 0.0f);
  double squares = 0.0;
  for (int row = 0; row < in.rows; ++row) {
    const auto at = static_cast<std::ptrdiff_t>(row) * in.actions + in.choice[row];
    const float error = in.q[at] - in.target[row];
    squares += static_cast<double>(error) * error;
    d_q[at] = 2.0f * share * error;
  }
  return squares / in.rows;
}

at::Tensor coma_critic_loss(const at::Tensor& q, const at::Tensor& choice,
                            const at::Tensor& target) {
  const auto taken = q.gather(1, choice.unsqueeze(1)).squeeze(1);
  return (target.detach() - taken).square().mean();
}

}  // namespace troupe
