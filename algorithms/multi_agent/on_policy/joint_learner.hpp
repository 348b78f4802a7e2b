#pragma once
// The learner of several policies inside the trainer role.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "algorithms/multi_agent/on_policy/joint_rollout.hpp"
#include "algorithms/on_policy/learner.hpp"
#include "algorithms/on_policy/ppo/config.hpp"

namespace troupe {

/// What one update needs.
struct joint_batch {
  std::vector<joint_rollout> rollouts = {};
  bool stale = false;             ///< True if older weights than the trainer's made a rollout.
  double progress_remaining = 1;  ///< Falls from 1 to 0 during training.
  std::optional<double> chosen_lr = {};  ///< Replaces lr and its schedule, if it is set.
};

/// What one update did, for each policy. A frozen policy has no report.
struct joint_report {
  std::vector<std::optional<on_policy_report>> of_policy;
};

/// The learner of several policies, which adapts to trainer<>. Each policy has a learner of its
/// own; the parameters of all lie one after another in one block, in the order of
/// network_shape::policies, so that all policies have one version.
class joint_learner {
 public:
  using batch = joint_batch;
  using report = joint_report;

  /// `learners` are those of the policies of `shape`. `trained` says which of them learn.
  joint_learner(network_shape shape, std::vector<on_policy_learner> learners,
                std::vector<std::uint8_t> trained);

  report update(const batch& b);
  /// The parameters of all policies, float [P].
  const at::Tensor& parameters() const { return parameters_; }
  void load_parameters(const at::Tensor& p);

  /// The state without the parameters.
  std::string save() const;
  /// Restores what `save` returned. Throws state_error if it can't be read, or if it is the state
  /// of other policies.
  void restore(const std::string& bytes);

 private:
  void gather_parameters(std::size_t policy);

  network_shape shape_;
  std::vector<on_policy_learner> learners_;
  std::vector<std::uint8_t> trained_;
  std::vector<std::int64_t> first_;  // the first parameter of each policy
  at::Tensor parameters_;
};

/// Returns the learner of policies that each learn by PPO. `options` have the network. The seed of
/// a run decides the initial weights and the order of minibatches.
joint_learner ppo_learners(const network_shape& shape, const ppo_options& options,
                           std::vector<std::uint8_t> trained, std::uint64_t seed, const char* name);

}  // namespace troupe
