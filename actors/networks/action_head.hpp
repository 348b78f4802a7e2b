#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "actors/networks/network.hpp"
#include "actors/random/action_random.hpp"

namespace troupe {

/// Actions of some rows: one of the two pointers is set, after the kind of action.
struct action_rows {
  const std::int64_t* choice = nullptr;  ///< [rows, choices]
  const float* value = nullptr;          ///< [rows, continuous_size]
};

/// As action_rows, to be written.
struct action_rows_out {
  std::int64_t* choice = nullptr;
  float* value = nullptr;
};

}  // namespace troupe

namespace troupe::detail {

/// What evaluate leaves for backward of categorical choices, [rows, outputs]; grows, never shrinks.
struct choice_buffers {
  std::vector<float> log_probability;
  std::vector<float> probability;
};

/// The logarithms of the standard deviations of Gaussian actions.
struct log_std_rows {
  const float* values = nullptr;  ///< [A], the same for all rows; or [rows, A]
  std::ptrdiff_t stride = 0;      ///< from one row's to the next: 0 or A
};

/// The distribution of actions that the actor's outputs describe: independent categorical choices
/// given by logits, or a diagonal Gaussian given by its mean and log standard deviation. `outputs`
/// is [rows, shape.actor_outputs()], `log_std` is unused where no action is continuous.
class action_head {
 public:
  explicit action_head(const network_shape& shape);

  /// Draws an action for each row, or takes the likeliest one, with its log-probability [rows].
  /// `departure`: what continuous actions depart from their mean by [rows, A]; null: they are
  /// drawn.
  void sample(const float* outputs, log_std_rows log_std, int rows, action_random& random,
              bool deterministic, const float* departure, action_rows_out actions,
              float* log_prob) const;

  /// log_prob [rows] and entropy [rows] of given actions.
  void evaluate(const float* outputs, log_std_rows log_std, int rows, action_rows actions,
                choice_buffers& buffers, float* log_prob, float* entropy) const;

  /// The chain rule through the evaluate before it: d_outputs is overwritten, d_log_std likewise,
  /// which is laid out as log_std.
  void backward(const float* outputs, log_std_rows log_std, int rows, action_rows actions,
                const choice_buffers& buffers, const float* d_log_prob, const float* d_entropy,
                float* d_outputs, float* d_log_std) const;

 private:
  std::vector<int> choices_;
  int continuous_size_;
  int outputs_;
};

}  // namespace troupe::detail
