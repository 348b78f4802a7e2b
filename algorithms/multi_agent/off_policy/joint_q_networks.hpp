#pragma once
// The networks of action values of all policies, as learners use them.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "actors/gradients/graph.hpp"
#include "actors/networks/joint_shape.hpp"
#include "actors/networks/network_stack.hpp"
#include "actors/random/action_random.hpp"
#include "algorithms/off_policy/transition_batch.hpp"

namespace troupe {

/// The networks Q_p(o, .) of the policies of an environment with several agents. Their parameters
/// lie one after another in one block [P], in the order of network_shape::policies, as in
/// layout_of.
class joint_q_networks {
 public:
  /// The network of one policy.
  struct one {
    detail::network_stack stack;
    std::size_t first = 0;  ///< Its first parameter in the block.
    int actions = 0;        ///< The number of each agent's choices.
  };

  /// Throws std::invalid_argument for a shape without agents, and one that names the policy unless
  /// each agent has one discrete choice.
  joint_q_networks(const network_shape& shape, const network_options& options);

  const network_shape& shape() const { return shape_; }
  const agent_rows& rows() const { return rows_; }
  std::size_t policies() const { return of_policy_.size(); }
  const one& operator[](std::size_t policy) const { return of_policy_[policy]; }
  /// [policies] The networks, in the order of the policies.
  std::vector<const detail::network_stack*> stacks() const;
  std::size_t agents() const { return shape_.agents.size(); }  ///< N
  /// [N] The policy of each agent.
  const std::vector<int>& policy_of_agent() const { return policy_of_agent_; }
  std::size_t parameter_count() const { return count_; }  ///< P

  /// Draws initial weights like PyTorch's nn.Linear, or orthogonal ones.
  void initialise(action_random& random, bool orthogonal, float* parameters) const;

  /// Returns what column_of(policy), a column [B N_p, 1] for the N_p agents of each policy, has for
  /// each agent: a matrix [B, N].
  template <class F>
  variable by_agents(const F& column_of) const {
    const auto matrix_of = [&](std::size_t policy) {
      return reshape(column_of(policy), static_cast<int>(rows_.agents_of(policy).size()));
    };
    auto by_policies = matrix_of(0);
    if (policies() == 1) return by_policies;
    for (std::size_t policy = 1; policy < policies(); ++policy) {
      by_policies = concat({by_policies, matrix_of(policy)});
    }
    auto all = slice(by_policies, place_of_agent_[0], 1);
    for (std::size_t agent = 1; agent < agents(); ++agent) {
      all = concat({all, slice(by_policies, place_of_agent_[agent], 1)});
    }
    return all;
  }

 private:
  network_shape shape_;
  agent_rows rows_;
  std::vector<one> of_policy_;
  std::vector<int> policy_of_agent_;
  std::vector<int> place_of_agent_;  // [N] its column where agents are in the order of policies
  std::size_t count_ = 0;
};

/// A batch of B transitions as the policies of N agents see it. A policy with N_p agents has B N_p
/// rows, those of one transition one after another.
struct joint_q_rows {
  struct of_policy {
    std::vector<float> obs, next_obs;  ///< [B N_p, inputs]; empty if the policy is not trained.
    std::vector<float> next_allowed;   ///< [B N_p, actions], above 0; empty if all always are.
    std::vector<std::int64_t> choice;  ///< [B N_p]
  };
  std::vector<of_policy> policies;
  std::vector<float> acts;  ///< [B, N] 1 if the agent acts and its policy is trained, else 0.
  /// [B, N] 1 if the agent's next value counts, else 0: its episode has not terminated, and it acts
  /// in the next row.
  std::vector<float> goes_on;
  /// [B, N] The row's weight, divided by the number of rows in which agents of the policy act; 0 if
  /// the agent does not act.
  std::vector<float> share;
  std::vector<float> zeros;  ///< [B, N]
  std::int64_t acting = 0;   ///< The sum of `acts`.
};

/// Writes the rows of a batch. `trained` [policies].
void gather_rows(const transition_batch& batch, const joint_q_networks& networks,
                 const std::vector<std::uint8_t>& trained, joint_q_rows& rows);

}  // namespace troupe
