#pragma once
// Makes an off-policy algorithm for a run from a learner. A new algorithm has its own learner, its
// options and their schema, and a function beside the learner that returns the columns of
// progress.csv:
//
//   named_values named(const metrics&)
//
// This file adds the rest:
//
//   algorithm_with(off_policy_algorithm_of<learner_adapter<Learner>>(config, kind))

#include <memory>
#include <string>
#include <utility>

#include "actors/checkpoint/state_codec.hpp"
#include "actors/random/derived_seed.hpp"
#include "algorithms/off_policy/off_policy.hpp"

namespace troupe {

/// Adapts a learner to off_policy_trainer. Learner is an update rule without actors, with these
/// members:
///
///   Learner(shape, options, seed, more...)
///   metrics update(const transition_batch&, double progress_remaining,
///                  std::optional<double> chosen_lr)
///   td_errors() const                  the TD errors of the last update, float [B]
///   policy().parameters(), or acting() the parameters of the network that acts, float [P]
///   state() const, set_state(state)    the state, of an encodable type
///   start_from(acting, beside)         if it can begin with a model, as off_policy_learner
///   beside() const                     if models have tensors that don't act, as
///   off_policy_learner
template <class Learner>
class learner_adapter : public off_policy_learner {
 public:
  /// `more` are further arguments of the learner's constructor.
  template <class Options, class... More>
  learner_adapter(const network_shape& shape, const Options& options, std::uint64_t seed,
                  const More&... more)
      : learner_(shape, options, seed, more...) {}

  void update(const transition_batch& batch, double progress_remaining,
              std::optional<double> chosen_lr) override {
    last_ = learner_.update(batch, progress_remaining, chosen_lr);
  }
  std::span<const float> acting() const override {
    if constexpr (requires { learner_.acting(); }) {
      return std::as_const(learner_).acting();
    } else {
      return std::as_const(learner_).policy().parameters();
    }
  }
  std::span<const float> td_errors() const override { return learner_.td_errors(); }
  named_tensors beside() const override {
    if constexpr (requires { learner_.beside(); }) {
      return learner_.beside();
    } else {
      return {};
    }
  }
  void start_from(std::span<const float> acting, const named_tensors& beside) override {
    if constexpr (requires { learner_.start_from(acting, beside); }) {
      learner_.start_from(acting, beside);
    } else {
      off_policy_learner::start_from(acting, beside);
    }
  }
  named_values metrics() const override { return last_.skipped ? named_values{} : named(last_); }
  named_values counts() const override {
    return {{"train/learning_rate", last_.learning_rate},
            {"train/n_updates", static_cast<double>(last_.n_updates)}};
  }
  double learning_rate() const override { return last_.learning_rate; }
  std::string save() const override { return state_bytes(learner_.state()); }
  void restore(const std::string& bytes) override { restore_state(learner_, bytes); }

 protected:
  Learner learner_;

 private:
  using metrics_type = decltype(std::declval<Learner&>().update({}, 1.0));
  metrics_type last_;
};

/// Adapts a learner that has update_target(times), too: its target network is updated every `every`
/// steps of each environment. If a collection has more steps, it is updated several times.
template <class Learner>
class target_adapter : public learner_adapter<Learner> {
 public:
  /// `more` are further arguments of the learner's constructor.
  template <class Options, class... More>
  target_adapter(const network_shape& shape, const Options& options, std::uint64_t seed,
                 std::int64_t every, const More&... more)
      : learner_adapter<Learner>(shape, options, seed, more...), every_(every) {}

  void stepped(std::int64_t before, std::int64_t after) override {
    this->learner_.update_target(after / every_ - before / every_);
  }

 private:
  std::int64_t every_;
};

/// Returns the algorithm of a configuration with that rule. `kind` is the kind of the acting
/// network. `explore` gets its numbers of steps from the configuration. `more` are further
/// arguments of the rule's constructor.
template <class Rule, class Config, class Json = nlohmann::json, class... More>
off_policy_algorithm off_policy_algorithm_of(const Config& c, network_kind kind,
                                             exploration explore = {}, More... more) {
  auto options = c.trainer;
  options.network = c.policy.options(kind);
  options.backend = c.policy.backend;
  explore.learning_starts = c.collection.learning_starts;
  explore.total_steps = c.schedule_steps.value_or(c.total_steps);
  auto settings = settings_of(c, options.network, to_json<Config, Json>(c).dump());
  settings.idle = idle_options_of(c);
  return {.settings = std::move(settings),
          .config = c,
          .batch_size = static_cast<std::size_t>(c.trainer.batch_size),
          .gamma = c.trainer.gamma,
          .explore = explore,
          .make_learner = [options, seed = c.seed, more...](const network_shape& shape) {
            return std::make_unique<Rule>(shape, options, derived_seed(seed, "learner"), more...);
          }};
}

}  // namespace troupe
