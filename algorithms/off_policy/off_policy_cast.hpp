#pragma once
// An off-policy algorithm as a cast of services:
//
//   collectors   environments and the acting network, stepped together
//   transitions  the ring that is trained on
//   trainer      draws minibatches, updates the weights; on a thread of its own in async mode
//   weights, evaluator, recorder   as with every algorithm
//
// loops::synchronous or loops::asynchronous brings them together over one episode function,
// generate_transitions.

#include <functional>
#include <memory>

#include "algorithms/off_policy/config.hpp"
#include "algorithms/off_policy/off_policy_trainer.hpp"
#include "algorithms/off_policy/transition_rollout.hpp"
#include "algorithms/run/training_cast.hpp"

namespace troupe {

/// What an off-policy algorithm says of itself.
struct off_policy_algorithm {
  training_settings settings;
  off_policy_config config;
  std::size_t batch_size = 256;  ///< Rows of a gradient step.
  double gamma = 0.99;           ///< Discount a step.
  exploration explore;
  std::function<std::unique_ptr<off_policy_learner>(const network_shape&)> make_learner;
};

/// The cast of a run of it.
class off_policy_cast final : public environment_cast {
 public:
  off_policy_cast(system& sys, off_policy_algorithm algorithm, training_output output,
                  training_callbacks callbacks);
  /// Stops the services, those that call others first.
  ~off_policy_cast() override;

  task<> serve(const checkpoint* from) override;
  task<> train_until(std::int64_t version, bool drain) override;
  task<checkpoint> save() override;
  task<training_summary> conclude() override;
  task<weights> newest() override;

  const off_policy_algorithm algorithm;
  service<off_policy_trainer> trainer;
  service<evaluator> final_judge;  ///< Of the evaluation at the end.
  transition_roles roles;
  std::int64_t episodes_to_log = 0;  ///< Ended since the last row of progress.csv.

 private:
  task<> serve_learning(const checkpoint* from);
  task<> serve_collectors(const checkpoint* from);
  task<evaluation> evaluate_at_the_end(weights of);
  std::size_t collectors() const;
};

/// The settings of a run. `resolved`: the whole configuration as JSON.
training_settings settings_of(const off_policy_config& config, network_options acting,
                              std::string resolved);

/// The algorithm as run_training and train_in take it.
trainable trainable_of(off_policy_algorithm algorithm);

}  // namespace troupe
