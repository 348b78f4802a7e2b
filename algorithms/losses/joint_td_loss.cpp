#include "actors/torch/torch.hpp"

#include "algorithms/losses/joint_td_loss.hpp"

#include <cmath>

namespace troupe {

td_loss_metrics team_td_loss(const team_td_rows& in, float* d_total, float* td_error) {
  const float share = 1.0f / static_cast<float>(in.rows);
  double loss = 0.0, q = 0.0;
  for (int row = 0; row < in.rows; ++row) {
    const float target =
        in.reward[row] + in.discount[row] * (1.0f - in.terminated[row]) * in.next_total[row];
    const float error = in.q_total[row] - target;
    const float weighted = in.weight ? in.weight[row] * error : error;
    loss += static_cast<double>(weighted) * error;
    q += in.q_total[row];
    d_total[row] = 2.0f * share * weighted;
    td_error[row] = std::abs(error);
  }
  return {loss / in.rows, q / in.rows};
}

td_loss_metrics agent_td_loss(const agent_td_rows& in, float* d_q, float* td_error) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(in.policies));
  std::int64_t all = 0;
  for (int i = 0; i < in.rows * in.agents; ++i) {
    counts[static_cast<std::size_t>(in.policy[i % in.agents])] += in.acts[i];
    all += in.acts[i];
  }
  double loss = 0.0, q = 0.0;
  for (int row = 0; row < in.rows; ++row) {
    float errors = 0.0f;
    int acting = 0;
    for (int agent = 0; agent < in.agents; ++agent) {
      const int i = row * in.agents + agent;
      d_q[i] = 0.0f;
      if (!in.acts[i]) continue;
      const auto count = counts[static_cast<std::size_t>(in.policy[agent])];
      const float target = in.reward[i] + in.discount[row] * (1.0f - in.terminated[i]) * in.next[i];
      const float error = in.q[i] - target;
      const float weighted = in.weight ? in.weight[row] * error : error;
      loss += static_cast<double>(weighted) * error / static_cast<double>(count);
      q += in.q[i];
      d_q[i] = 2.0f / static_cast<float>(count) * weighted;
      errors += std::abs(error);
      ++acting;
    }
    td_error[row] = acting > 0 ? errors / static_cast<float>(acting) : 0.0f;
  }
  return {loss, all > 0 ? q / static_cast<double>(all) : 0.0};
}

td_loss_result team_td_loss(const team_td_inputs& in) {
  const auto target = in.reward + in.discount * (1.0 - in.terminated) * in.next_total.detach();
  const auto error = in.q_total - target;
  auto squares = error.square();
  if (in.weight.defined()) squares = squares * in.weight;
  return {squares.mean(), in.q_total.detach().mean(), error.detach().abs()};
}

td_loss_result agent_td_loss(const agent_td_inputs& in) {
  const auto discount = in.discount.unsqueeze(1);
  const auto target = in.reward + discount * (1.0 - in.terminated) * in.next.detach();
  const auto error = (in.q - target) * in.acts;
  auto squares = error.square();
  if (in.weight.defined()) squares = squares * in.weight.unsqueeze(1);
  auto loss = at::zeros({}, in.q.options());
  for (int policy = 0; policy < in.policies; ++policy) {
    std::vector<std::int64_t> members;
    for (std::size_t agent = 0; agent < in.policy.size(); ++agent) {
      if (in.policy[agent] == policy) members.push_back(static_cast<std::int64_t>(agent));
    }
    const auto index = at::tensor(members, at::kLong);
    const auto count = in.acts.index_select(1, index).sum();
    loss = loss + squares.index_select(1, index).sum() / count.clamp_min(1.0);
  }
  const auto acting = in.acts.sum(1).clamp_min(1.0);
  return {loss, (in.q.detach() * in.acts).sum() / in.acts.sum().clamp_min(1.0),
          error.detach().abs().sum(1) / acting};
}

}  // namespace troupe
