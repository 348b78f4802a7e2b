#pragma once
// The learner of several policies, each of which has a learner of its own.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/learner/learner.hpp"
#include "algorithms/multi_agent/on_policy/joint_rollout.hpp"
#include "algorithms/on_policy/ppo/config.hpp"

namespace troupe {

/// What one update of several policies learns from.
struct joint_batch {
  std::vector<joint_rollout> rollouts = {};
  bool stale = false;  ///< True if older weights than the trainer's made a rollout.
};

/// The learner of several policies. Their acting parameters lie one after another in one block, in
/// the order of network_shape::policies, so that all have one version.
using joint_learner = learner<joint_batch>;

/// The rule by which each policy learns from a Batch of its own. The metrics are means over the
/// policies that learn.
template <class Batch>
class separate_learners final : public joint_learner {
 public:
  /// Makes the batch of a policy, whose index is given.
  using batch_maker = std::function<Batch(const joint_batch&, std::size_t)>;

  /// `learners` are those of the policies of `shape`. `trained` says which of them learn.
  separate_learners(const char* name, const learning_options& options, network_shape shape,
                    std::vector<std::unique_ptr<learner<Batch>>> learners, batch_maker batch_of,
                    std::vector<std::uint8_t> trained)
      : joint_learner(name, options, 0),
        shape_(std::move(shape)),
        learners_(std::move(learners)),
        batch_of_(std::move(batch_of)),
        trained_(std::move(trained)) {
    gather_parameters();
  }

  std::span<const float> acting() const override { return parameters_; }
  void start_from(std::span<const float> acting, const named_tensors&) override {
    expect_size_of(acting);
    std::size_t first = 0;
    for (const auto& each : learners_) {
      const auto count = each->acting().size();
      each->start_from(acting.subspan(first, count), {});
      first += count;
    }
    gather_parameters();
  }
  void visit_state(state_visitor& visit) override {
    joint_learner::visit_state(visit);
    for (std::size_t i = 0; i < learners_.size(); ++i) {
      visit.within(shape_.policies[i].name, [&] { learners_[i]->visit_state(visit); });
    }
  }

 private:
  void check_batch(const joint_batch& batch) const override {
    for (const auto& r : batch.rollouts) check(r, shape_);
  }
  void train(const joint_batch& batch) override {
    auto& report = this->report();
    metric_means means;
    for (std::size_t i = 0; i < learners_.size(); ++i) {
      if (!trained_[i]) continue;
      const auto& made =
          learners_[i]->update(batch_of_(batch, i), progress_remaining(), report.learning_rate);
      means.add(made.metrics);
      report.trained_rows += made.trained_rows;
      report.optimizer_steps += made.optimizer_steps;
      report.skipped_steps += made.skipped_steps;
    }
    report.metrics = means.means();
    gather_parameters();
  }
  void gather_parameters() {
    parameters_.clear();
    for (const auto& each : learners_) {
      const auto own = each->acting();
      parameters_.insert(parameters_.end(), own.begin(), own.end());
    }
  }

  network_shape shape_;
  std::vector<std::unique_ptr<learner<Batch>>> learners_;
  batch_maker batch_of_;
  std::vector<std::uint8_t> trained_;
  std::vector<float> parameters_;
};

/// The rollouts of one policy as a batch.
rollout_batch batch_of_policy(const joint_batch& b, std::size_t index, const network_shape& own);

/// The seed of the learner of a policy in a run with that seed.
std::uint64_t seed_of_policy(std::uint64_t seed, std::size_t index);

/// Returns the learner of policies that each learn by PPO. `options` have the network. The seed of
/// a run decides the initial weights and the order of minibatches.
std::unique_ptr<joint_learner> ppo_learners(const network_shape& shape, const ppo_options& options,
                                            std::vector<std::uint8_t> trained, std::uint64_t seed,
                                            const char* name);

}  // namespace troupe
