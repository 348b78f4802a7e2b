#pragma once
// A choice of optimiser at run time.
#include <stdexcept>
#include <string>
#include <variant>

#include "actors/trainer/adam.hpp"
#include "actors/trainer/rmsprop.hpp"

namespace troupe {

using optimizer_state = std::variant<adam_state, rmsprop_state>;

/// Any of the optimisers, chosen at construction.
class optimizer {
 public:
  optimizer(adam rule) : rule_(std::move(rule)) {}     // NOLINT: either is an optimizer
  optimizer(rmsprop rule) : rule_(std::move(rule)) {}  // NOLINT

  /// Takes one step with learning rate `lr`, and returns the gradient's norm before clipping. If
  /// the norm is not finite, nothing changes. Throws std::invalid_argument if the sizes are not P.
  double step(std::span<float> parameters, std::span<const float> gradient, double lr) {
    return std::visit([&](auto& rule) { return rule.step(parameters, gradient, lr); }, rule_);
  }

  optimizer_state state() const {
    return std::visit([](const auto& rule) { return optimizer_state(rule.state()); }, rule_);
  }
  /// Throws std::invalid_argument if the state is of another size or of another optimiser.
  void set_state(const optimizer_state& state) {
    if (state.index() != rule_.index()) {
      constexpr const char* names[] = {"adam", "rmsprop"};
      throw std::invalid_argument(std::string("optimizer: expected the state of ") +
                                  names[rule_.index()] + ", got that of " + names[state.index()]);
    }
    if (auto* a = std::get_if<adam>(&rule_)) return a->set_state(std::get<adam_state>(state));
    std::get<rmsprop>(rule_).set_state(std::get<rmsprop_state>(state));
  }

 private:
  std::variant<adam, rmsprop> rule_;
};

}  // namespace troupe
