#pragma once
// The networks of all policies of an environment with several agents, as far as acting needs them.

#include <cstdint>
#include <memory>
#include <vector>

#include "actors/networks/acting_network.hpp"
#include "actors/networks/joint_shape.hpp"

namespace troupe {

/// The exploration of several policies by action values: an agent that acts takes, with probability
/// `share`, each of its allowed choices with the same probability.
struct random_choices {
  double share = 0.0;
  /// [policies] 1 for those that explore; empty means all. Scripted policies never explore.
  std::vector<std::uint8_t> policies = {};
};

/// The networks of the policies of an environment with several agents. Their parameters lie one
/// after another, as in layout_of.
class acting_policies final : public acting_network {
 public:
  /// The arguments and the errors are those of make_acting_network.
  acting_policies(const network_shape& shape, const network_options& options, const space& actions,
                  std::uint64_t seed, const scripted_policy_maker& script);

  void load_parameters(const at::Tensor& parameters) override;
  void act(const float* obs, int rows, action_random& random, bool deterministic,
           action_rows_out actions) override;

  /// Writes choices [rows, P] of agents that have one choice each, in the order of the
  /// environment's action, but from 0 on, as networks have them. The choice of an agent that does
  /// not act is 0. An agent's exploration is drawn by itself. REQUIRES: all agents have one choice.
  void choose(const float* obs, int rows, action_random& random, const random_choices& explore,
              std::int64_t* choices);

 private:
  void act_policy(std::size_t policy, std::span<const float> joint, action_random& random,
                  bool deterministic);
  void explore_policy(std::size_t policy, std::span<const float> joint, action_random& random,
                      double share);

  agent_rows agents_, choosers_;  // with the integers of the environment, and of networks
  std::size_t integers_, floats_, width_;
  std::vector<std::unique_ptr<acting_network>> networks_;
  std::vector<std::unique_ptr<scripted_policy>> scripts_;  // of each policy; null for a network
  std::vector<std::int64_t> counts_;                       // the parameters of each
  // Of the policy that acts: its rows, its actions, and which agents act.
  std::vector<float> rows_, values_;
  std::vector<std::int64_t> choices_;
  std::vector<std::uint8_t> acts_;
};

}  // namespace troupe
