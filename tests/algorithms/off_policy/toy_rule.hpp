#pragma once
// An update rule whose every weight hangs on every row it was given, in order, so that two runs
// with the same weights have seen the same. What it is given it can also show.

#include "actors/checkpoint/state.hpp"
#include "actors/networks/acting_network.hpp"
#include "algorithms/off_policy/off_policy.hpp"

namespace troupe::testing {

class toy_rule final : public off_policy_learner {
 public:
  /// Batches are copied to `seen`, where it is not null.
  using batches = std::shared_ptr<std::vector<transition_batch>>;

  toy_rule(const network_shape& shape, const network_options& options, batches seen)
      : seen_(std::move(seen)),
        parameters_(static_cast<std::size_t>(single_network(shape, options).parameter_count()),
                    0.01f) {}

  void update(const transition_batch& batch, double progress_remaining,
              std::optional<double>) override {
    ++updates_;
    if (seen_) seen_->push_back(batch);
    td_errors_ = batch.reward;
    double seen = progress_remaining;
    for (std::size_t i = 0; i < batch.reward.size(); ++i) {
      seen += batch.obs[i] + 2 * batch.next_obs[i] + 3 * batch.terminated[i];
      if (!batch.weight.empty()) seen += batch.weight[i];
      seen += batch.action.empty() ? static_cast<double>(batch.choice[i]) : batch.action[i];
    }
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      parameters_[i] += 1e-2f * static_cast<float>(std::sin(seen + static_cast<double>(i)));
    }
  }
  void stepped(std::int64_t before, std::int64_t after) override { steps_ += after - before; }
  std::span<const float> acting() const override { return parameters_; }
  std::span<const float> td_errors() const override { return td_errors_; }
  /// The number of the gradient step; those that are divisible by 5 once more.
  named_values metrics() const override {
    const auto number = static_cast<double>(updates_);
    if (updates_ % 5 != 0) return {{"train/number", number}};
    return {{"train/fifth", number}, {"train/number", number}};
  }
  named_values counts() const override {
    return {{"train/n_updates", static_cast<double>(updates_)},
            {"train/steps", static_cast<double>(steps_)}};
  }
  double learning_rate() const override { return 0; }
  std::string save() const override {
    state_writer to;
    to.put("parameters", parameters_);
    to.put("updates", updates_);
    to.put("steps", steps_);
    return to.bytes();
  }
  void restore(const std::string& bytes) override {
    const state_reader from(bytes);
    from.get("parameters", parameters_);
    from.get("updates", updates_);
    from.get("steps", steps_);
  }

 private:
  batches seen_;
  std::vector<float> parameters_;
  std::int64_t updates_ = 0;
  std::int64_t steps_ = 0;
  std::vector<float> td_errors_;
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
                           .make_learner = [network, seen](const network_shape& shape) {
                             return std::make_unique<toy_rule>(shape, network, seen);
                           }});
}

}  // namespace troupe::testing
