#pragma once
// The distribution of actions over a network's outputs: sampling, log-probabilities, entropies and
// their gradients.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "actors/networks/network.hpp"
#include "actors/random/action_random.hpp"

namespace troupe {

/// The actions of some rows. The pointers that fit the kinds of numbers in an action are set.
struct action_rows {
  const std::int64_t* choice = nullptr;  ///< [rows, P]
  const float* value = nullptr;          ///< [rows, continuous_size]
};

/// Like action_rows, but for output.
struct action_rows_out {
  std::int64_t* choice = nullptr;
  float* value = nullptr;
};

}  // namespace troupe

namespace troupe::detail {

/// The results that `evaluate` of categorical choices keeps for `backward`, [rows, outputs]. The
/// buffers grow and never shrink.
struct choice_buffers {
  std::vector<float> log_probability;
  std::vector<float> probability;
};

/// The logarithms of the standard deviations of Gaussian actions.
struct log_std_rows {
  const float* values = nullptr;  ///< [A], the same for all rows; or [rows, A]
  std::ptrdiff_t stride = 0;      ///< the distance from one row to the next: 0 or A
};

/// The distribution of actions that the actor's outputs describe. Its parts are independent: a
/// diagonal Gaussian given by its mean and log standard deviation, categorical choices given by a
/// logit for each option, and zeros and ones given by the logit of a one. Log-probabilities and
/// entropies are the sums over the parts. `outputs` is [rows, shape.actor_outputs()]. `log_std` is
/// used only for continuous actions.
class action_head {
 public:
  explicit action_head(const network_shape& shape);

  const std::vector<int>& categories() const { return categories_; }
  int bits() const { return bits_; }
  int continuous_size() const { return continuous_size_; }                 ///< A
  std::size_t choice_count() const { return categories_.size() + bits_; }  ///< P
  int outputs() const { return outputs_; }

  /// Draws an action for each row, or takes the likeliest one, and writes its log-probability
  /// [rows]. `departure` [rows, A] is added to the mean of continuous actions; null means that they
  /// are drawn.
  void sample(const float* outputs, log_std_rows log_std, int rows, action_random& random,
              bool deterministic, const float* departure, action_rows_out actions,
              float* log_prob) const;

  /// Writes log_prob [rows] and entropy [rows] of the given actions.
  void evaluate(const float* outputs, log_std_rows log_std, int rows, action_rows actions,
                choice_buffers& buffers, float* log_prob, float* entropy) const;

  /// Applies the chain rule through the preceding `evaluate`. It overwrites d_outputs and
  /// d_log_std; d_log_std has the layout of log_std.
  void backward(const float* outputs, log_std_rows log_std, int rows, action_rows actions,
                const choice_buffers& buffers, const float* d_log_prob, const float* d_entropy,
                float* d_outputs, float* d_log_std) const;

 private:
  std::vector<int> categories_;
  int bits_;
  int continuous_size_;
  int outputs_;
};

}  // namespace troupe::detail
