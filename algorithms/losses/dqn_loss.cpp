#include "actors/torch/torch.hpp"

#include "algorithms/losses/dqn_loss.hpp"

#include <algorithm>
#include <cmath>

namespace troupe {
namespace {

// The action values of one row of a network's outputs.
struct row_values {
  const float* first;
  float shift;  // the value of action i is first[i] + shift
  float operator[](std::int64_t i) const { return first[i] + shift; }
};

row_values values_of(const dqn_rows& in, const float* outputs, int row) {
  if (!in.dueling) return {outputs + static_cast<std::ptrdiff_t>(row) * in.actions, 0.0f};
  const float* state_value = outputs + static_cast<std::ptrdiff_t>(row) * (1 + in.actions);
  const float* advantage = state_value + 1;
  float mean = 0.0f;
  for (int i = 0; i < in.actions; ++i) mean += advantage[i];
  return {advantage, *state_value - mean / static_cast<float>(in.actions)};
}

int best_of(const dqn_rows& in, const float* outputs, int row) {
  const float* first = values_of(in, outputs, row).first;
  return static_cast<int>(std::max_element(first, first + in.actions) - first);
}

}  // namespace

dqn_loss_metrics dqn_loss_with_gradient(const dqn_rows& in, float* d_q, float* td_error) {
  const float share = 1.0f / static_cast<float>(in.rows);
  const int width = in.actions + (in.dueling ? 1 : 0);
  std::fill_n(d_q, static_cast<std::ptrdiff_t>(in.rows) * width, 0.0f);
  double loss_sum = 0.0, q_sum = 0.0;
  for (int row = 0; row < in.rows; ++row) {
    const int best = best_of(in, in.next_online ? in.next_online : in.next_target, row);
    const float next = values_of(in, in.next_target, row)[best];
    const float target = in.reward[row] + in.discount[row] * (1.0f - in.terminated[row]) * next;
    const auto choice = in.choice[row];
    const float q = values_of(in, in.q, row)[choice];
    const float error = q - target;
    const float size = std::abs(error);
    const float weight = in.weight ? in.weight[row] : 1.0f;
    loss_sum += static_cast<double>(weight) * (size < 1.0f ? 0.5f * error * error : size - 0.5f);
    q_sum += q;
    td_error[row] = size;

    // The derivative of Huber's loss is the error, clipped to -1..1; NaN stays NaN.
    const float d = share * weight * (error > 1.0f ? 1.0f : error < -1.0f ? -1.0f : error);
    float* d_row = d_q + static_cast<std::ptrdiff_t>(row) * width;
    if (in.dueling) {
      *d_row++ = d;
      for (int i = 0; i < in.actions; ++i) d_row[i] = -d / static_cast<float>(in.actions);
    }
    d_row[choice] += d;
  }
  return {loss_sum / in.rows, q_sum / in.rows};
}

at::Tensor dueling_values(const at::Tensor& outputs) {
  const auto advantage = outputs.narrow(1, 1, outputs.size(1) - 1);
  return outputs.narrow(1, 0, 1) + advantage - advantage.mean(1, true);
}

dqn_loss_result dqn_loss(const dqn_loss_inputs& in) {
  const auto chooser = (in.next_online.defined() ? in.next_online : in.next_target).detach();
  const auto best = chooser.argmax(1, true);
  const auto next = in.next_target.detach().gather(1, best).squeeze(1);
  const auto target = in.reward + in.discount * (1.0 - in.terminated) * next;
  const auto q = in.q.gather(1, in.choice.unsqueeze(1)).squeeze(1);
  auto loss = at::smooth_l1_loss(q, target, at::Reduction::None, /*beta=*/1.0);
  if (in.weight.defined()) loss = loss * in.weight;
  return {loss.mean(), q.detach(), (q - target).detach().abs()};
}

}  // namespace troupe
