#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "actors/environments/vector_environment.hpp"

namespace troupe::detail {

/// Checks actions against an action space, and hands out each environment's part of them.
class action_checker {
 public:
  /// Throws std::invalid_argument for action spaces that a step message does not carry (text,
  /// tuple, dict).
  action_checker(const env_spec& spec, std::size_t count);

  /// What messages call the environments.
  void rename(const std::string& id) { id_ = id; }

  /// Throws wrong_actions; clips continuous actions.
  void check(env_actions& actions) const;

  /// Environment i's part of actions that were checked.
  action_view row(const env_actions& actions, std::size_t i) const {
    if (is_box_) return action_view(std::span(actions.continuous.data() + i * width_, width_));
    return action_view(std::span(actions.discrete.data() + i * width_, width_));
  }

 private:
  void check_integers(std::span<const std::int64_t> integers) const;
  void clip(std::span<float> floats) const;

  std::string id_;
  space action_space_;
  std::size_t count_;
  bool is_box_ = false;
  std::size_t width_ = 1;                  // integers or floats of one action
  std::vector<std::int64_t> first_, end_;  // [width] bounds of integers
  std::vector<float> low_, high_;          // [count * width] bounds of floats
};

}  // namespace troupe::detail
