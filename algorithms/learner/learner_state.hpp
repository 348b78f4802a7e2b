#pragma once
// Learners list the parts of their state once, and the list serves saving, checking and restoring:
//
//   void dqn_learner::visit_state(state_visitor& visit) {
//     learner::visit_state(visit);
//     visit("parameters", online_.parameters());
//     trained_.visit_state(visit);
//   }

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include <ATen/core/Tensor.h>

#include "actors/random/action_random.hpp"
#include "actors/trainer/adam.hpp"
#include "actors/trainer/optimizer.hpp"
#include "algorithms/learner/reward_scaling.hpp"

namespace troupe {

/// A block of `count` floats that a state may have: an undefined tensor if it has none.
struct optional_block {
  at::Tensor& block;
  std::int64_t count = 0;
};

/// Receives the parts of a learner's state. It reads or replaces their values.
class state_visitor {
 public:
  virtual ~state_visitor() = default;

  /// True if the values are replaced, so that what follows from them must be made anew. Bytes are
  /// visited once before, to check them.
  virtual bool restores() const { return false; }

  /// Shows a part of the types below. The count of numbers must be the same whenever the state is
  /// visited.
  template <class Part>
  void operator()(std::string_view name, Part&& part) {
    visit(prefix_ + std::string(name), part);
  }
  /// Shows the parts that `show` shows, with names that begin with "whole.".
  template <class Show>
  void within(std::string_view whole, Show show) {
    const auto outer = prefix_;
    prefix_ += std::string(whole) + '.';
    show();
    prefix_ = outer;
  }

 protected:
  virtual void visit(const std::string& name, std::span<float> numbers) = 0;
  virtual void visit(const std::string& name, std::span<double> numbers) = 0;
  virtual void visit(const std::string& name, optional_block block) = 0;
  virtual void visit(const std::string& name, std::int64_t& number) = 0;
  virtual void visit(const std::string& name, adam& optimizer) = 0;
  virtual void visit(const std::string& name, optimizer& any) = 0;
  virtual void visit(const std::string& name, action_random& random) = 0;
  virtual void visit(const std::string& name, detail::reward_scale& scale) = 0;

 private:
  std::string prefix_;
};

namespace detail {

/// Shows all parts of a state to a visitor.
using visits_state = std::function<void(state_visitor&)>;

/// Returns the values of all parts as bytes.
std::string save_state(const visits_state& visit_all);
/// Replaces the values of all parts by those that save_state returned. Throws state_error, such as
/// "dqn state: target: expected 5 numbers, got 3", and changes nothing, if the bytes are no state
/// or that of another learner.
void restore_state(std::string_view algorithm, std::string_view bytes,
                   const visits_state& visit_all);

}  // namespace detail
}  // namespace troupe
