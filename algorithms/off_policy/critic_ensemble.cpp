#include "actors/torch/torch.hpp"

#include "algorithms/off_policy/critic_ensemble.hpp"

#include <algorithm>
#include <cmath>

#include "actors/gradients/perceptron.hpp"

namespace troupe::detail {
namespace {

constexpr std::size_t line = 16;  // floats

std::size_t whole_lines(std::size_t count) { return (count + line - 1) / line * line; }

std::size_t size_of_block(std::size_t critics, const std::optional<feature_extractor>& extractor) {
  if (!extractor) return critics;
  return critics + whole_lines(static_cast<std::size_t>(extractor->parameter_count()));
}

}  // namespace

critic_ensemble::critic_ensemble(const network_shape& shape, const network_options& options,
                                 int count)
    : obs_size_(shape.obs_size),
      action_size_(shape.continuous_size),
      count_(count),
      extractor_(make_extractor(shape, options)),
      network_((extractor_ ? extractor_->features() : obs_size_) + action_size_, options.hidden, 1,
               options.hidden_activation),
      stride_(whole_lines(network_.parameter_count())),
      parameters_(size_of_block(stride_ * count, extractor_)),
      target_(parameters_.size()),
      gradient_(parameters_.size()),
      // The critics, their gradients and their targets.
      link_(options.device, 3 * sizeof(float) * parameters_.size()),
      buffers_(count) {}

void critic_ensemble::initialise(action_random& random, bool orthogonal) {
  for (int i = 0; i < count_; ++i) {
    float* parameters = parameters_.data() + i * stride_;
    if (orthogonal) {
      network_.initialise_orthogonal(random, 1.0, parameters);
    } else {
      network_.initialise_uniform(random, parameters);
    }
  }
  if (extractor_) {
    extractor_->initialise(random, orthogonal, parameters_.data() + extractor_offset());
  }
  target_ = parameters_;
}

variable critic_ensemble::values(variable obs, variable action,
                                 const parameter_block& block) const {
  return values(obs, action, block, count_);
}

variable critic_ensemble::values(variable obs, variable action, const parameter_block& block,
                                 int among) const {
  auto features = obs;
  if (extractor_) {
    features = obs.owner().features(obs, block, extractor_offset(), *extractor_);
  }
  const auto x = concat({features, action});
  critic_values_.clear();
  for (int i = 0; i < among; ++i) {
    critic_values_.push_back(perceptron(network_, x, block, i * stride_).outputs);
  }
  return concat(critic_values_);
}

const float* critic_ensemble::join(const std::vector<float>& obs, const float* action, int rows,
                                   float_block& joined) {
  float* to = grown(joined, static_cast<std::size_t>(rows) * (obs_size_ + action_size_));
  const float* from = obs.data();
  float* result = to;
  for (int row = 0; row < rows; ++row) {
    for (int i = 0; i < obs_size_; ++i) *to++ = *from++;
    for (int i = 0; i < action_size_; ++i) *to++ = *action++;
  }
  return result;
}

void critic_ensemble::smallest_target(const transition_batch& batch, const float* next_action,
                                      float* y) {
  const float* x = join(batch.next_obs, next_action, batch.rows, joined_);
  for (int i = 0; i < count_; ++i) {
    const float* q = network_.forward(target_.data() + i * stride_, x, batch.rows, buffers_[i]);
    for (int row = 0; row < batch.rows; ++row) {
      y[row] = i > 0 && !(q[row] < y[row]) ? y[row] : q[row];
    }
  }
}

void critic_ensemble::target_values(const transition_batch& batch, const float* next_action,
                                    float* q) {
  const float* x = join(batch.next_obs, next_action, batch.rows, joined_);
  for (int i = 0; i < count_; ++i) {
    const float* of_one =
        network_.forward(target_.data() + i * stride_, x, batch.rows, buffers_[i]);
    for (int row = 0; row < batch.rows; ++row) q[row * count_ + i] = of_one[row];
  }
}

critic_ensemble::fit_result critic_ensemble::fit(const transition_batch& batch, const float* y,
                                                 float scale, float* td_error) {
  const int rows = batch.rows;
  const float share = 1.0f / static_cast<float>(rows);
  const float* weight = batch.weight.empty() ? nullptr : batch.weight.data();
  const float* x = join(batch.obs, batch.action.data(), rows, joined_);
  float* d_q = grown(d_q_, rows);
  std::fill_n(td_error, rows, 0.0f);
  fit_result result;
  for (int i = 0; i < count_; ++i) {
    const float* parameters = parameters_.data() + i * stride_;
    const float* q = network_.forward(parameters, x, rows, buffers_[i]);
    double squares = 0.0, sum = 0.0;
    for (int row = 0; row < rows; ++row) {
      const float error = q[row] - y[row];
      const float weighted = weight ? weight[row] * error : error;
      squares += static_cast<double>(weighted) * error;
      sum += q[row];
      d_q[row] = 2.0f * scale * share * weighted;
      td_error[row] += std::abs(error) / static_cast<float>(count_);
    }
    result.loss += scale * squares / rows;
    if (i == 0) result.q_mean = sum / rows;
    network_.backward(parameters, x, rows, d_q, buffers_[i], gradient_.data() + i * stride_);
  }
  return result;
}

void critic_ensemble::value_and_slope(const transition_batch& batch, const float* action, int among,
                                      float* value, float* d_action) {
  const int rows = batch.rows;
  const float* x = join(batch.obs, action, rows, joined_);
  smallest_.resize(rows);
  for (int i = 0; i < among; ++i) {
    const float* q = network_.forward(parameters_.data() + i * stride_, x, rows, buffers_[i]);
    for (int row = 0; row < rows; ++row) {
      if (i > 0 && !(q[row] < value[row])) continue;
      value[row] = q[row];
      smallest_[row] = i;
    }
  }
  const auto count = static_cast<std::size_t>(rows) * action_size_;
  float* d_q = grown(d_q_, rows);
  float* slope = grown(slope_, count);
  for (int i = 0; i < among; ++i) {
    for (int row = 0; row < rows; ++row) d_q[row] = smallest_[row] == i ? 1.0f : 0.0f;
    network_.backward_inputs(parameters_.data() + i * stride_, rows, d_q, buffers_[i], obs_size_,
                             action_size_, i == 0 ? d_action : slope);
    if (i == 0) continue;
    for (std::size_t k = 0; k < count; ++k) d_action[k] += slope[k];
  }
}

}  // namespace troupe::detail
