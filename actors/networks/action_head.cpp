#include "actors/networks/action_head.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace troupe::detail {
namespace {

const float half_log_two_pi = static_cast<float>(0.5 * std::log(2.0 * std::numbers::pi));

// Returns log sum exp of one choice's logits. The largest logit is subtracted first, so nothing
// overflows.
float log_normaliser(const float* logits, int count) {
  float largest = logits[0];
  for (int i = 1; i < count; ++i) largest = std::max(largest, logits[i]);
  double sum = 0.0;
  for (int i = 0; i < count; ++i) sum += std::exp(logits[i] - largest);
  return largest + static_cast<float>(std::log(sum));
}

// Writes the log-probability and the probability of each option, and returns the entropy.
float categorical(const float* logits, int count, float* log_p, float* p) {
  const float largest = *std::max_element(logits, logits + count);
  double sum = 0.0;
  for (int i = 0; i < count; ++i) sum += p[i] = std::exp(logits[i] - largest);
  const float normaliser = largest + static_cast<float>(std::log(sum));
  const auto share = static_cast<float>(1.0 / sum);
  float entropy = 0.0f;
  for (int i = 0; i < count; ++i) {
    p[i] *= share;
    log_p[i] = logits[i] - normaliser;
    if (p[i] > 0.0f) entropy -= p[i] * log_p[i];  // p log p is 0 if p is 0
  }
  return entropy;
}

// Returns the first option at which the cumulated probability passes a uniform number.
int draw(const float* logits, int count, float normaliser, action_random& random) {
  double remaining = random.uniform();
  for (int i = 0; i + 1 < count; ++i) {
    remaining -= std::exp(static_cast<double>(logits[i] - normaliser));
    if (remaining < 0.0) return i;
  }
  return count - 1;
}

// Returns log(1 + exp(x)) without overflow.
float softplus(float x) { return std::max(x, 0.0f) + std::log1p(std::exp(-std::abs(x))); }

float sigmoid(float x) { return 1.0f / (1.0f + std::exp(-x)); }

// Returns log p(bit) for the logit of p(1): log p(1) = -softplus(-logit), log p(0) =
// -softplus(logit).
float bit_log_prob(std::int64_t bit, float logit) { return -softplus(bit != 0 ? -logit : logit); }

float gaussian_log_prob(float action, float mean, float log_std) {
  const float z = (action - mean) * std::exp(-log_std);
  return -0.5f * z * z - log_std - half_log_two_pi;
}

}  // namespace

action_head::action_head(const network_shape& shape)
    : categories_(shape.categories()),
      bits_(shape.multi_binary),
      continuous_size_(shape.continuous_size),
      outputs_(shape.actor_outputs()) {}

void action_head::sample(const float* outputs, log_std_rows log_stds, int rows,
                         action_random& random, bool deterministic, const float* departure,
                         action_rows_out actions, float* log_prob) const {
  const float* log_std = log_stds.values;
  const auto depart = [&](int i) {
    if (deterministic) return 0.0f;
    if (departure) return *departure++;
    return std::exp(log_std[i]) * static_cast<float>(random.normal());
  };
  for (int row = 0; row < rows; ++row, log_std += log_stds.stride) {
    log_prob[row] = 0.0f;
    for (int i = 0; i < continuous_size_; ++i) {
      const float action = outputs[i] + depart(i);
      *actions.value++ = action;
      log_prob[row] += gaussian_log_prob(action, outputs[i], log_std[i]);
    }
    const float* logits = outputs + continuous_size_;
    for (int count : categories_) {
      const float normaliser = log_normaliser(logits, count);
      const auto choice = deterministic ? std::max_element(logits, logits + count) - logits
                                        : draw(logits, count, normaliser, random);
      *actions.choice++ = choice;
      log_prob[row] += logits[choice] - normaliser;
      logits += count;
    }
    for (int i = 0; i < bits_; ++i) {
      const bool bit = deterministic ? logits[i] > 0.0f : random.uniform() < sigmoid(logits[i]);
      *actions.choice++ = bit;
      log_prob[row] += bit_log_prob(bit, logits[i]);
    }
    outputs += outputs_;
  }
}

void action_head::evaluate(const float* outputs, log_std_rows log_stds, int rows,
                           action_rows actions, choice_buffers& buffers, float* log_prob,
                           float* entropy) const {
  const auto size = static_cast<std::size_t>(rows) * static_cast<std::size_t>(outputs_);
  if (buffers.probability.size() < size) {
    buffers.probability.resize(size);
    buffers.log_probability.resize(size);
  }
  float* p = buffers.probability.data();
  float* log_p = buffers.log_probability.data();
  const float* log_std = log_stds.values;
  for (int row = 0; row < rows; ++row, log_std += log_stds.stride) {
    log_prob[row] = 0.0f;
    entropy[row] = 0.0f;
    for (int i = 0; i < continuous_size_; ++i) {
      log_prob[row] += gaussian_log_prob(*actions.value++, outputs[i], log_std[i]);
      entropy[row] += 0.5f + half_log_two_pi + log_std[i];
    }
    const float* logits = outputs + continuous_size_;
    for (int count : categories_) {
      entropy[row] += categorical(logits, count, log_p, p);
      log_prob[row] += log_p[*actions.choice++];
      logits += count;
      log_p += count;
      p += count;
    }
    for (int i = 0; i < bits_; ++i) {
      log_prob[row] += bit_log_prob(*actions.choice++, logits[i]);
      entropy[row] += softplus(logits[i]) - logits[i] * sigmoid(logits[i]);
    }
    outputs += outputs_;
  }
}

void action_head::backward(const float* outputs, log_std_rows log_stds, int rows,
                           action_rows actions, const choice_buffers& buffers,
                           const float* d_log_prob, const float* d_entropy, float* d_outputs,
                           float* d_log_std) const {
  const float* p = buffers.probability.data();
  const float* log_p = buffers.log_probability.data();
  std::fill_n(d_log_std, log_stds.stride > 0 ? rows * log_stds.stride : continuous_size_, 0.0f);
  const float* log_std = log_stds.values;
  for (int row = 0; row < rows; ++row, log_std += log_stds.stride, d_log_std += log_stds.stride) {
    for (int i = 0; i < continuous_size_; ++i) {
      // log p = -z^2/2 - log_std, z = (a - mean) / std: d/dmean = z / std, d/dlog_std = z^2 - 1
      const float inverse_std = std::exp(-log_std[i]);
      const float z = (*actions.value++ - outputs[i]) * inverse_std;
      d_outputs[i] = d_log_prob[row] * z * inverse_std;
      d_log_std[i] += d_log_prob[row] * (z * z - 1.0f) + d_entropy[row];
    }
    float* d_logits = d_outputs + continuous_size_;
    for (int count : categories_) {
      // d log p_a / d logit_i = [i = a] - p_i, d entropy / d logit_i = -p_i (log p_i + entropy)
      for (int i = 0; i < count; ++i) d_logits[i] = -d_log_prob[row] * p[i];
      if (d_entropy[row] != 0.0f) {
        float entropy = 0.0f;
        for (int i = 0; i < count; ++i) {
          if (p[i] > 0.0f) entropy -= p[i] * log_p[i];
        }
        for (int i = 0; i < count; ++i) {
          if (p[i] > 0.0f) d_logits[i] -= d_entropy[row] * p[i] * (log_p[i] + entropy);
        }
      }
      d_logits[*actions.choice++] += d_log_prob[row];
      d_logits += count;
      log_p += count;
      p += count;
    }
    for (int i = 0; i < bits_; ++i) {
      // d log p_bit / d logit = bit - p, d entropy / d logit = -logit p (1 - p)
      const float logit = outputs[outputs_ - bits_ + i];
      const float one = sigmoid(logit);
      d_logits[i] = d_log_prob[row] * (static_cast<float>(*actions.choice++) - one) -
                    d_entropy[row] * logit * one * (1.0f - one);
    }
    outputs += outputs_;
    d_outputs += outputs_;
  }
}

}  // namespace troupe::detail
