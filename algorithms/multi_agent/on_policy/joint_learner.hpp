#pragma once
// The learner of several policies inside the trainer role.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "algorithms/multi_agent/on_policy/joint_rollout.hpp"
#include "algorithms/on_policy/ppo/config.hpp"
#include "algorithms/on_policy/update_report.hpp"

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

/// The interface of update rules of several policies. The parameters of all policies lie one after
/// another in one block, in the order of network_shape::policies, so that all have one version.
class joint_rule {
 public:
  virtual ~joint_rule() = default;
  virtual joint_report update(const joint_batch& b) = 0;
  /// The parameters of all policies, float [P].
  virtual const at::Tensor& parameters() const = 0;
  /// Throws c10::Error if they are of another size.
  virtual void load_parameters(const at::Tensor& p) = 0;
  /// The state without the parameters.
  virtual std::string save() const = 0;
  /// Restores what `save` returned. Throws state_error if it can't be read, or if it is the state
  /// of other policies.
  virtual void restore(const std::string& bytes) = 0;
};

/// The learner of several policies, which adapts a rule to trainer<>.
class joint_learner {
 public:
  using batch = joint_batch;
  using report = joint_report;

  explicit joint_learner(std::unique_ptr<joint_rule> rule) : rule_(std::move(rule)) {}

  report update(const batch& b) { return rule_->update(b); }
  const at::Tensor& parameters() const { return rule_->parameters(); }
  void load_parameters(const at::Tensor& p) { rule_->load_parameters(p); }
  std::string save() const { return rule_->save(); }
  void restore(const std::string& bytes) { rule_->restore(bytes); }

 private:
  std::unique_ptr<joint_rule> rule_;
};

/// The interface of the learner of one of several policies.
class policy_learner {
 public:
  virtual ~policy_learner() = default;
  /// Makes one update of the policy `index`.
  virtual on_policy_report update(const joint_batch& b, std::size_t index) = 0;
  /// The network that acts.
  virtual actor_critic& model() = 0;
  /// As joint_rule's.
  virtual std::string save() const = 0;
  virtual void restore(const std::string& bytes) = 0;
};

/// The rule by which each policy has a learner of its own.
class separate_learners final : public joint_rule {
 public:
  /// `learners` are those of the policies of `shape`. `trained` says which of them learn.
  separate_learners(network_shape shape, std::vector<std::unique_ptr<policy_learner>> learners,
                    std::vector<std::uint8_t> trained);

  joint_report update(const joint_batch& b) override;
  const at::Tensor& parameters() const override { return parameters_; }
  void load_parameters(const at::Tensor& p) override;
  std::string save() const override;
  void restore(const std::string& bytes) override;

 private:
  void gather_parameters(std::size_t policy);

  network_shape shape_;
  std::vector<std::unique_ptr<policy_learner>> learners_;
  std::vector<std::uint8_t> trained_;
  std::vector<std::int64_t> first_;  // the first parameter of each policy
  at::Tensor parameters_;
};

/// The rollouts of one policy as a batch.
rollout_batch batch_of_policy(const joint_batch& b, std::size_t index, const network_shape& own);

/// The seed of the learner of a policy in a run with that seed.
std::uint64_t seed_of_policy(std::uint64_t seed, std::size_t index);

/// Returns the learner of policies that each learn by PPO. `options` have the network. The seed of
/// a run decides the initial weights and the order of minibatches.
joint_learner ppo_learners(const network_shape& shape, const ppo_options& options,
                           std::vector<std::uint8_t> trained, std::uint64_t seed, const char* name);

}  // namespace troupe
