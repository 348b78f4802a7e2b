#pragma once
// The learner of a run: a learner for each policy.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "algorithms/learner/learner.hpp"
#include "algorithms/on_policy/learner.hpp"
#include "algorithms/on_policy/rollout.hpp"

namespace troupe {

/// The learner of a run, which learns from the rollouts of all policies. The acting parameters of
/// the policies lie one after another in one block, in the order of network_shape::policies, so
/// that all have one version.
class rollout_learner : public learner<training_rollouts> {
 public:
  /// Makes the learner of a run whose policies each learn by make_learner(shape, config), where
  /// `shape` is the policy's own. A Config with `trained(shape)` says which policies learn. A
  /// make_learner that returns a rollout_learner makes those of all policies.
  template <class Config>
  static std::unique_ptr<rollout_learner> of_policies(const network_shape& shape,
                                                      const Config& config);

  /// Makes this learner one of several ranks; see on_policy_learner::join.
  virtual void join(std::shared_ptr<collective> ranks) = 0;

 protected:
  using learner::learner;
};

/// The seed of the learner of a policy in a run with that seed.
std::uint64_t seed_of_policy(std::uint64_t seed, std::size_t index);

/// The shapes of the policies of a run, in their order; a single agent has one policy.
std::vector<network_shape> shapes_of_policies(const network_shape& shape);

/// The rule by which each policy learns from its own part of the rollouts, by a Learner of its own.
/// With one policy the report and the state are those of its learner. With several the metrics are
/// means over the policies that learn.
template <class Learner>
class policy_learners final : public rollout_learner {
 public:
  using batch_type = typename Learner::batch;
  /// Makes the batch of a policy, whose index is given.
  using batch_maker = std::function<batch_type(const training_rollouts&, std::size_t)>;

  /// `learners` are those of the policies of `shape`. `trained` says which of them learn; empty
  /// means all.
  policy_learners(const char* name, const learning_options& options, network_shape shape,
                  std::vector<std::unique_ptr<Learner>> learners, batch_maker batch_of,
                  std::vector<std::uint8_t> trained = {})
      : rollout_learner(name, options, 0),
        shape_(std::move(shape)),
        learners_(std::move(learners)),
        batch_of_(std::move(batch_of)),
        trained_(std::move(trained)) {
    gather_parameters();
  }

  std::span<const float> acting() const override {
    return is_one() ? learners_[0]->acting() : std::span<const float>(parameters_);
  }
  void start_from(std::span<const float> acting, const named_tensors& beside) override {
    if (is_one()) return learners_[0]->start_from(acting, beside);
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
    if (is_one()) return learners_[0]->visit_state(visit);
    rollout_learner::visit_state(visit);
    for (std::size_t i = 0; i < learners_.size(); ++i) {
      visit.within(shape_.policies[i].name, [&] { learners_[i]->visit_state(visit); });
    }
  }
  double scheduled_lr(double progress_remaining) const override {
    return learners_[0]->scheduled_lr(progress_remaining);
  }
  void join(std::shared_ptr<collective> ranks) override {
    if constexpr (requires(Learner& each) { each.join(ranks); }) {
      for (const auto& each : learners_) each->join(ranks);
    } else {
      throw std::invalid_argument(std::string(name()) + ": expected one rank, got several");
    }
  }

 private:
  bool is_one() const { return shape_.policies.empty(); }
  void check_batch(const training_rollouts& given) const override {
    for (const auto& r : given.rollouts) check(r, shape_);
  }
  void train(const training_rollouts& given) override {
    auto& report = this->report();
    const double lr = report.learning_rate;
    if (is_one()) {
      report = learners_[0]->update(batch_of_(given, 0), progress_remaining(), lr);
      return;
    }
    metric_means means;
    for (std::size_t i = 0; i < learners_.size(); ++i) {
      if (!trained_.empty() && !trained_[i]) continue;
      const auto& made = learners_[i]->update(batch_of_(given, i), progress_remaining(), lr);
      means.add(made.metrics);
      report.trained_rows += made.trained_rows;
      report.optimizer_steps += made.optimizer_steps;
      report.skipped_steps += made.skipped_steps;
    }
    report.metrics = means.means();
    gather_parameters();
  }
  void gather_parameters() {
    if (is_one()) return;
    parameters_.clear();
    for (const auto& each : learners_) {
      const auto own = each->acting();
      parameters_.insert(parameters_.end(), own.begin(), own.end());
    }
  }

  network_shape shape_;
  std::vector<std::unique_ptr<Learner>> learners_;
  batch_maker batch_of_;
  std::vector<std::uint8_t> trained_;
  std::vector<float> parameters_;  // of several policies
};

namespace detail {

/// Makes one learner by make_learner(shape, config), which returns it or a pointer to it.
template <class Config>
auto make_policy_learner(const network_shape& shape, const Config& config) {
  using made = decltype(make_learner(shape, config));
  if constexpr (requires(made one) { one.get(); }) {
    return make_learner(shape, config);
  } else {
    return std::unique_ptr<made>(new made(make_learner(shape, config)));
  }
}

}  // namespace detail

template <class Config>
std::unique_ptr<rollout_learner> rollout_learner::of_policies(const network_shape& shape,
                                                              const Config& config) {
  using made = decltype(detail::make_policy_learner(shape, config));
  if constexpr (std::is_same_v<made, std::unique_ptr<rollout_learner>>) {
    return make_learner(shape, config);
  } else {
    using learner_type = typename made::element_type;
    const auto shapes = shapes_of_policies(shape);
    std::vector<made> learners;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      auto own = config;
      own.seed = seed_of_policy(config.seed, i);
      learners.push_back(detail::make_policy_learner(shapes[i], own));
    }
    std::vector<std::uint8_t> trained;
    if constexpr (requires { config.trained(shape); }) trained = config.trained(shape);
    const auto* name = learners.front()->name();
    const auto batch_of = [shapes](const training_rollouts& given, std::size_t i) {
      return to_batch(given, shapes[i], i);
    };
    return std::make_unique<policy_learners<learner_type>>(name, learning_of(config.trainer), shape,
                                                           std::move(learners), batch_of,
                                                           std::move(trained));
  }
}

}  // namespace troupe
