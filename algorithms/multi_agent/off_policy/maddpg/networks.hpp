#pragma once
// The actors and critics of all policies, and what the critics see.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "actors/environments/agent_layout.hpp"
#include "actors/networks/joint_shape.hpp"
#include "actors/networks/network_stack.hpp"
#include "algorithms/off_policy/critic_ensemble.hpp"

namespace troupe {

/// The networks of an environment with N agents, whose observation rows have D numbers and whose
/// actions have A. Each policy has an actor mu_p(o) and critics Q_p(x, i, a): x [X] is the
/// environment's state or the observations of all agents, i the number of the agent whose value it
/// is, one-hot, where the policy plays several, and a [A] are the actions of all agents.
///
/// In what critics see, the observation and the action of an agent that does not act are 0, so that
/// its numbers change nothing. The actions of scripted policies are 0, too: they follow from what
/// the critic sees, and a learner does not know the next ones.
class maddpg_networks {
 public:
  /// The networks of one policy.
  struct one {
    detail::network_stack actor;  ///< With a tanh behind it, so that actions are within -1..1.
    std::size_t first = 0;        ///< The actor's first parameter in the block of all actors.
    std::size_t actions = 0;      ///< The number of an agent's floats.
    std::size_t ids = 0;          ///< The width of i; 0 if the policy plays one agent.
    detail::critic_ensemble critics;
  };

  /// Throws std::invalid_argument for a shape without agents or without what critics see, and one
  /// that names the policy unless actions are continuous.
  maddpg_networks(const network_shape& shape, const network_options& options, int n_critics);

  const network_shape& shape() const { return shape_; }
  const agent_rows& rows() const { return rows_; }
  std::size_t policies() const { return of_policy_.size(); }
  one& operator[](std::size_t policy) { return of_policy_[policy]; }
  const one& operator[](std::size_t policy) const { return of_policy_[policy]; }
  /// [policies] The actors, in the order of the policies.
  std::vector<const detail::network_stack*> actors() const;
  std::size_t actor_count() const { return count_; }  ///< The parameters of all actors, P.
  /// Where x lies in an observation row.
  agent_layout::range seen() const { return seen_; }
  std::size_t view_size() const { return seen_.size; }  ///< X

  bool acts(const float* obs_row, std::size_t agent) const {
    const int at = shape_.agents[agent].active;
    return at < 0 || obs_row[at] != 0;
  }
  bool is_scripted(std::size_t agent) const {
    return !shape_.policies[static_cast<std::size_t>(shape_.agents[agent].policy)].script.empty();
  }
  /// Whether x has the observations of the agents.
  bool sees_observations() const { return seen_.begin == 0; }

  /// Writes x of rows of observations [B, D], [B, X].
  void view(const std::vector<float>& obs, int rows, float* to) const;
  /// Sets the actions [B, A] that critics do not see to 0.
  void hide_actions(const std::vector<float>& obs, int rows, float* action) const;

 private:
  network_shape shape_;
  agent_rows rows_;
  agent_layout::range seen_;
  std::vector<one> of_policy_;
  std::size_t count_ = 0;
};

}  // namespace troupe
