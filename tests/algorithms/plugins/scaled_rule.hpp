#pragma once
// A rule with a state: the policy gradient, whose advantages are divided by a running mean of their
// size.

#include <cmath>
#include <vector>

#include "actors/gradients/graph.hpp"
#include "algorithms/run/plugin_algorithm.hpp"

struct scaled_options {
  double decay = 0.9;
  int unused = 1;
};

inline void describe(troupe::options_schema<scaled_options>& s) {
  s.field("decay", &scaled_options::decay).at_least(0).below(1).help("The decay of the mean.");
  s.field("unused", &scaled_options::unused)
      .has_effect_if("rule.decay is 0", [](const scaled_options& o) { return o.decay == 0; });
}

inline troupe::ppo_loss_result result_of(const troupe::ppo_loss_inputs& in,
                                         troupe::variable advantage,
                                         const troupe::loss_settings& settings) {
  const auto ratio = exp(in.log_prob - in.behaviour_log_prob);
  const auto loss = static_cast<float>(settings.vf_coef) * mean(square(in.returns - in.value)) -
                    mean(ratio * advantage);
  return {loss, {.loss = number(loss)}};
}

/// Has `size` numbers of state, of which it uses the first.
template <int size>
class scaled_rule final : public troupe::on_policy_rule {
 public:
  explicit scaled_rule(const scaled_options& options) : decay_(options.decay) {}

  troupe::ppo_loss_result loss(const troupe::ppo_loss_inputs& in,
                               const troupe::loss_settings& settings) override {
    const auto seen = number(mean(abs(in.advantage)));
    state_[0] = static_cast<float>(decay_ * state_[0] + (1 - decay_) * seen);
    return result_of(in, 1 / (state_[0] + 1e-3f) * in.advantage, settings);
  }

  void visit_state(troupe::rule_state& visit) override { visit("size", state_); }

 private:
  double decay_;
  std::vector<float> state_ = std::vector<float>(size, 1.0f);
};
