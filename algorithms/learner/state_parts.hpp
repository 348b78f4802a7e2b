#pragma once
// Learners describe their state once: a list of the state's members and of what holds their values.
//
//   template <class Self, class State, class Visit>
//   static void parts(Self& self, State& state, const Visit& visit) {
//     visit("parameters", state.parameters, self.network_.parameters());
//     visit("optimizer", state.optimizer, self.optimizer_);
//     visit("n_updates", state.n_updates, self.n_updates_);
//   }
//
// saved_state copies the values to a state, and restore_state_parts takes them from one.

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include "actors/random/action_random.hpp"
#include "actors/trainer/adam.hpp"
#include "algorithms/learner/skip_guard.hpp"

namespace troupe::detail {

/// Copies each part's value to the state.
struct saving_parts {
  void operator()(std::string_view, std::vector<float>& to, std::span<const float> from) const {
    to.assign(from.begin(), from.end());
  }
  void operator()(std::string_view, float& to, float from) const { to = from; }
  void operator()(std::string_view, std::int64_t& to, std::int64_t from) const { to = from; }
  void operator()(std::string_view, adam_state& to, const adam& from) const { to = from.state(); }
  void operator()(std::string_view, action_random::state_type& to,
                  const action_random& from) const {
    to = from.state();
  }
  void operator()(std::string_view, int& to, const skip_guard& from) const { to = from.in_a_row(); }
};

/// Throws std::invalid_argument if a part of the state has another size than its holder.
struct checking_parts {
  std::string_view algorithm;

  void operator()(std::string_view name, const std::vector<float>& from,
                  std::span<const float> to) const {
    expect(name, from.size(), to.size());
  }
  void operator()(std::string_view name, const adam_state& from, const adam& to) const {
    expect(name, from.first_moment.size(), to.state().first_moment.size());
    expect(name, from.second_moment.size(), to.state().second_moment.size());
  }
  template <class State, class Holder>
  void operator()(std::string_view, const State&, const Holder&) const {}

 private:
  void expect(std::string_view name, std::size_t got, std::size_t expected) const {
    if (got == expected) return;
    throw std::invalid_argument(
        fmt::format("{} state: {} of {} numbers, expected {}", algorithm, name, got, expected));
  }
};

/// Copies each part's value from the state.
struct restoring_parts {
  void operator()(std::string_view, const std::vector<float>& from, std::span<float> to) const {
    std::ranges::copy(from, to.begin());
  }
  void operator()(std::string_view, float from, float& to) const { to = from; }
  void operator()(std::string_view, std::int64_t from, std::int64_t& to) const { to = from; }
  void operator()(std::string_view, const adam_state& from, adam& to) const { to.set_state(from); }
  void operator()(std::string_view, const action_random::state_type& from,
                  action_random& to) const {
    to.set_state(from);
  }
  void operator()(std::string_view, int from, skip_guard& to) const { to.set_in_a_row(from); }
};

/// Calls a learner's private `parts`; learners befriend it.
struct learner_parts {
  template <class Learner, class State, class Visit>
  static void visit(Learner& learner, State& state, const Visit& visit) {
    std::remove_const_t<Learner>::parts(learner, state, visit);
  }
};

/// Returns the state of a learner that has `parts`.
template <class State, class Learner>
State saved_state(const Learner& learner) {
  State state;
  learner_parts::visit(learner, state, saving_parts());
  return state;
}

/// Restores the state of a learner that has `parts`. Throws std::invalid_argument, such as "dqn
/// state: target of 3 numbers, expected 5", and changes nothing, if it is that of another network.
template <class State, class Learner>
void restore_state_parts(std::string_view algorithm, const State& state, Learner& learner) {
  learner_parts::visit(learner, state, checking_parts{algorithm});
  learner_parts::visit(learner, state, restoring_parts());
}

}  // namespace troupe::detail
