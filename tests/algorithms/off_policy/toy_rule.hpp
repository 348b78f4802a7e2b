#pragma once
// An update rule whose every weight hangs on every row it was given, in order, so that two runs
// with the same weights have seen the same. What it is given it can also show.

#include "actors/networks/acting_network.hpp"
#include "algorithms/off_policy/off_policy.hpp"

namespace troupe::testing {

class toy_rule final : public transition_learner {
 public:
  /// Batches are copied to `seen`, where it is not null.
  using batches = std::shared_ptr<std::vector<transition_batch>>;

  toy_rule(const network_shape& shape, const network_options& options, batches seen)
      : learner("toy", {.lr = 1.0, .lr_schedule = annealing::linear}, 1),
        seen_(std::move(seen)),
        parameters_(static_cast<std::size_t>(single_network(shape, options).parameter_count()),
                    0.01f) {}

  std::span<const float> acting() const override { return parameters_; }
  void update_target(std::int64_t times) override { target_updates_ += times; }
  void visit_state(state_visitor& visit) override {
    learner::visit_state(visit);
    visit("parameters", parameters_);
    visit("target_updates", target_updates_);
  }

 private:
  void check_batch(const transition_batch&) const override {}
  /// The metrics are the number of the gradient step, and those that are divisible by 5 once more.
  bool step(const transition_batch& batch) override {
    if (seen_) seen_->push_back(batch);
    report().td_errors = batch.reward;
    double seen = report().learning_rate + static_cast<double>(target_updates_);
    for (std::size_t i = 0; i < batch.reward.size(); ++i) {
      seen += batch.obs[i] + 2 * batch.next_obs[i] + 3 * batch.terminated[i];
      if (!batch.weight.empty()) seen += batch.weight[i];
      seen += batch.action.empty() ? static_cast<double>(batch.choice[i]) : batch.action[i];
    }
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      parameters_[i] += 1e-2f * static_cast<float>(std::sin(seen + static_cast<double>(i)));
    }
    const auto number = static_cast<double>(n_updates());
    if (n_updates() % 5 == 0) report().metrics.push_back({"train/fifth", number});
    report().metrics.push_back({"train/number", number});
    return true;
  }

  batches seen_;
  std::vector<float> parameters_;
  std::int64_t target_updates_ = 0;
};

inline algorithm toy_algorithm(off_policy_config config, network_kind kind,
                               toy_rule::batches seen = nullptr) {
  config.algo = "toy";
  const network_options network{.hidden = {4}, .ortho_init = false, .kind = kind};
  return algorithm_with(
      off_policy_algorithm{.settings = settings_of(config, network, "{}"),
                           .config = config,
                           .batch_size = 8,
                           .explore = {.learning_starts = config.collection.learning_starts,
                                       .total_steps = config.total_steps,
                                       .noise = {.kind = noise_kind::ornstein_uhlenbeck}},
                           .make_learner =
                               [network, seen](const network_shape& shape) {
                                 return std::make_unique<toy_rule>(shape, network, seen);
                               },
                           .target_update_steps = 3});
}

}  // namespace troupe::testing
