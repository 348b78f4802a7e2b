#pragma once
// The mixing network of QMIX.

#include <vector>

#include "actors/environments/agent_layout.hpp"
#include "actors/gradients/graph.hpp"
#include "actors/networks/mlp.hpp"
#include "actors/networks/network.hpp"
#include "algorithms/multi_agent/off_policy/qmix/config.hpp"
#include "algorithms/multi_agent/off_policy/value_mixer.hpp"

namespace troupe {

/// Returns where the mixer's input lies in an observation of an environment with several agents; an
/// empty range for none. Throws std::invalid_argument for a shape without agents.
agent_layout::range input_of_mixer(const network_shape& shape, mixer_input input);

/// The monotonic mixing of Rashid et al. 2018, https://arxiv.org/abs/1803.11485, section 4 and
/// figure 2:
///
///   Q_tot = w2 . elu(w1 q + b1) + v
///
/// Hypernetworks make w1 [E, N] and w2 [E], whose absolute values are taken, b1 [E], and v, of the
/// input s [S]: those of w1 and w2 have hyper_hidden layers with ReLU, that of b1 is linear, and
/// that of v has one hidden layer [E] with ReLU. N is the number of agents, E is embed_dim. Without
/// an input s is the number 1.
class mixing_network final : public value_mixer {
 public:
  /// Throws std::invalid_argument if the environment does not show the input.
  mixing_network(const network_shape& shape, const mixer_section& options);

  tensor_layout layout() const override;
  void initialise(action_random& random, float* parameters) const override;
  variable mix(variable obs, variable q, const parameter_block& block, std::size_t first) override;

 private:
  /// A hypernetwork and its part of the parameters.
  struct hyper {
    const char* name;
    detail::mlp net;
    std::size_t first = 0;
  };

  bool sees_nothing_;
  agent_layout::range input_;  // of one number where it sees nothing, which is then not read
  std::vector<hyper> hypers_;  // w1, b1, w2, v
  std::vector<float> ones_;    // [B], the input where it sees nothing
};

}  // namespace troupe
