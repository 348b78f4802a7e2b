#pragma once
// The check of the actions that vector_env receives.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "actors/environments/vector_environment.hpp"

namespace troupe::detail {

/// Checks actions against an action space, and gives each environment its part of them.
class action_checker {
 public:
  /// Takes the number of environments as `count`. Throws std::invalid_argument for action spaces
  /// that a step message does not carry: those with a text.
  action_checker(const env_spec& spec, std::size_t count);

  /// Sets the id that error messages have.
  void rename(const std::string& id) { id_ = id; }

  /// Clips continuous actions to their bounds. Throws wrong_actions.
  void check(env_actions& actions) const;

  /// Returns the action of environment i. The actions have passed `check`.
  action_view row(const env_actions& actions, std::size_t i) const {
    return {std::span(actions.discrete.data() + i * integers_, integers_),
            std::span(actions.continuous.data() + i * floats_, floats_)};
  }

 private:
  void check_count(std::size_t given, std::size_t width, const char* kind, std::size_t other) const;
  void check_integers(std::span<const std::int64_t> integers) const;
  void clip(std::span<float> floats) const;

  std::string id_;
  space action_space_;
  std::size_t count_;
  std::size_t integers_ = 0;               // P, the number of integers in one action
  std::size_t floats_ = 0;                 // A, the number of floats in one action
  std::vector<std::int64_t> first_, end_;  // [P] the bounds of integers; `end_` is excluded
  std::vector<float> low_, high_;          // [count * A] the bounds of floats
};

}  // namespace troupe::detail
