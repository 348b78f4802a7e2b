#pragma once
// The walk from the last step of a rollout to the first, in which returns are computed.

#include <cmath>
#include <cstdint>

#include "algorithms/losses/gae.hpp"

namespace troupe::detail {

/// The checked inputs of gae, contiguous.
class return_steps {
 public:
  /// Throws c10::Error as gae does.
  explicit return_steps(const gae_inputs& in);

  std::int64_t steps() const { return steps_; }                ///< T
  std::int64_t environments() const { return environments_; }  ///< B
  const at::Tensor& value() const { return value_; }           ///< float [T, B]

  /// Calls trace = visit(index, reward, value, next_value, next_trace) for each valid step, from
  /// the last to the first of each environment. `index` is t * B + b. `next_value` is that of the
  /// observation after the step as gae defines it, and `next_trace` is what the visit of the next
  /// step of the same episode returned, or 0 if there is none.
  template <class Visit>
  void visit_backward(Visit visit) const {
    const auto* reward = reward_.data_ptr<float>();
    const auto* value = value_.data_ptr<float>();
    const auto* terminated = terminated_.data_ptr<bool>();
    const auto* truncated = truncated_.data_ptr<bool>();
    const auto* final_value = final_value_.data_ptr<float>();
    const auto* bootstrap_value = bootstrap_value_.data_ptr<float>();
    const auto* valid = valid_.defined() ? valid_.data_ptr<bool>() : nullptr;
    for (std::int64_t b = 0; b < environments_; ++b) {
      float next_value = bootstrap_value[b];
      float next_trace = 0.0f;
      for (std::int64_t i = (steps_ - 1) * environments_ + b; i >= 0; i -= environments_) {
        if (valid && !valid[i]) {
          next_value = std::isfinite(value[i]) ? value[i] : 0.0f;
          next_trace = 0.0f;
          continue;
        }
        if (terminated[i] || truncated[i]) {
          next_value = terminated[i] ? 0.0f : final_value[i];
          next_trace = 0.0f;
        }
        next_trace = visit(i, reward[i], value[i], next_value, next_trace);
        next_value = value[i];
      }
    }
  }

 private:
  std::int64_t steps_, environments_;
  at::Tensor reward_, value_, terminated_, truncated_, final_value_, bootstrap_value_, valid_;
};

/// Converts a tensor of any number type to `type`, contiguous. Throws c10::Error for another shape.
at::Tensor checked_column(const char* name, const at::Tensor& tensor, at::IntArrayRef sizes,
                          at::ScalarType type);

}  // namespace troupe::detail
