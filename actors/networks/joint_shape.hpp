#pragma once
// The networks of the policies that play the agents of an environment with several.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "actors/environments/environment.hpp"
#include "actors/environments/scripted_policy.hpp"
#include "actors/networks/choice_map.hpp"
#include "actors/networks/network.hpp"

namespace troupe {

/// What the critic of an agent sees beside the agent's own observation.
enum class central_input {
  none,          ///< Nothing.
  observations,  ///< The observations of all agents.
  state,         ///< The global state of the environment.
};

struct joint_shape_options {
  /// Appends an agent's number to its observation, one-hot, where a policy plays several agents.
  bool agent_ids = true;
  central_input critic = central_input::none;
};

/// Returns the shape of the networks where agent i is played by the policy of the name
/// `policy_of_agent[i]`. Policies are in the order of their first agents. Throws
/// std::invalid_argument that names the environment and the agents: if agents of one policy have
/// different spaces, and if the critic shall see a state that the environment does not have.
network_shape joint_shape(const env_spec& spec, const std::vector<std::string>& policy_of_agent,
                          const joint_shape_options& options);

/// Returns whether an agent that a step cut off would act next. `before` and `next` [D] are the
/// rows of the environment around that step. An environment that cuts an agent off itself shows it
/// as one that does not act; it would act next if it acted in the step and no other agent takes its
/// turn.
bool would_act_next(const std::vector<agent_view>& agents, std::size_t agent, const float* before,
                    const float* next);

/// Converts between the rows of an environment with several agents and those of its policies. B is
/// the number of environments and N the number of a policy's agents; a policy has B N rows, those
/// of one environment one after another. An environment with a single agent has one policy, which
/// plays one agent and whose rows are those of the environment.
class agent_rows {
 public:
  agent_rows() = default;
  /// `actions` is the environment's action space; with several agents it is a Tuple with theirs.
  /// Throws std::invalid_argument if the shape is not one for such an environment.
  agent_rows(const network_shape& shape, const space& actions);
  /// The same for actions whose integers are choices from 0 on, as networks have them.
  explicit agent_rows(const network_shape& shape);

  const std::vector<agent_view>& agents() const { return shape_.agents; }
  /// True if the environment has a single agent.
  bool is_single() const { return shape_.policies.empty(); }
  /// The number of floats in an environment's row, D.
  std::size_t width() const { return static_cast<std::size_t>(shape_.obs_size); }
  std::size_t integers() const { return integers_; }  ///< P of an environment's action.
  std::size_t floats() const { return floats_; }      ///< A of an environment's action.
  /// True if every agent of a policy acts in every step.
  bool always_act(std::size_t policy) const;
  std::size_t policies() const { return members_.size(); }
  /// The agents of a policy, in order.
  const std::vector<std::size_t>& agents_of(std::size_t policy) const { return members_[policy]; }
  const network_shape& shape_of_policy(std::size_t policy) const { return shapes_[policy]; }

  /// Writes the rows of a policy, [B N, its obs_size], from the environments' rows [B, D].
  void gather(std::size_t policy, std::span<const float> joint, std::span<float> rows) const;
  /// Writes what the actor of a policy sees of these rows, [B N, its actor_inputs()].
  void gather_inputs(std::size_t policy, std::span<const float> joint, std::span<float> rows) const;
  /// Writes which of a policy's agents act, [B N], from the environments' rows [B, D].
  void gather_active(std::size_t policy, std::span<const float> joint,
                     std::span<std::uint8_t> active) const;
  /// Has a scripted policy act for the rows [B N, its obs_size] of a policy: writes the choices
  /// [B N, its choice_count()] and floats [B N, its continuous_size].
  void act(std::size_t policy, scripted_policy& script, std::span<const float> rows,
           action_random& random, std::span<std::int64_t> choices, std::span<float> floats) const;
  /// Writes the choices [B N, its choice_count()] and floats [B N, its continuous_size] of a policy
  /// as the integers [B, P] and floats [B, A] of the environments' actions.
  void scatter(std::size_t policy, std::span<const std::int64_t> choices,
               std::span<const float> floats, std::span<std::int64_t> joint_integers,
               std::span<float> joint_floats) const;

 private:
  void require_inside(const agent_view& agent) const;
  template <bool Whole>
  void gather_rows(std::size_t policy, std::span<const float> joint, float* to) const;

  network_shape shape_;
  std::vector<network_shape> shapes_;              // of each policy
  std::vector<std::vector<std::size_t>> members_;  // the agents of each policy
  std::vector<choice_map> choices_;                // of each agent
  std::size_t integers_ = 0, floats_ = 0;          // P and A
};

}  // namespace troupe
