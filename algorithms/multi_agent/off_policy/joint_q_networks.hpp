#pragma once
// The networks of action values of all policies, as learners use them.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "actors/kernels/float_block.hpp"
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
  std::size_t agents() const { return shape_.agents.size(); }  ///< N
  /// [N] The policy of each agent.
  const std::vector<int>& policy_of_agent() const { return policy_of_agent_; }
  std::size_t parameter_count() const { return count_; }  ///< P

  /// Draws initial weights like PyTorch's nn.Linear, or orthogonal ones.
  void initialise(action_random& random, bool orthogonal, float* parameters) const;

 private:
  network_shape shape_;
  agent_rows rows_;
  std::vector<one> of_policy_;
  std::vector<int> policy_of_agent_;
  std::size_t count_ = 0;
};

namespace detail {

/// Which agents of the rows of a batch count, [B, N] of 1 and 0.
struct joint_flags {
  std::vector<std::uint8_t> acts;  ///< The agent acts in the row, and its policy is trained.
  /// The agent's next value counts: its episode has not terminated, and it acts in the next row.
  std::vector<std::uint8_t> goes_on;
};
/// Writes the flags of a batch. `trained` [policies].
void flags_of(const transition_batch& batch, const network_shape& shape,
              const std::vector<std::uint8_t>& trained, joint_flags& flags);

}  // namespace detail
}  // namespace troupe
