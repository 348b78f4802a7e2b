#pragma once
// The role that trains off-policy algorithms: its batches come from a replay.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/networks/named_tensors.hpp"
#include "actors/replay/transition_replay.hpp"
#include "algorithms/learner/learner.hpp"
#include "algorithms/learner/metric_means.hpp"
#include "algorithms/learner/trainer.hpp"
#include "algorithms/off_policy/collector.hpp"
#include "algorithms/off_policy/transition_batch.hpp"

namespace troupe {

/// The learner of an off-policy algorithm.
using transition_learner = learner<transition_batch>;

/// The arguments of one update.
struct off_policy_update {
  std::int64_t version = 0;         ///< The version of the weights that the update begins from.
  std::int64_t gradient_steps = 1;  ///< The number of gradient steps.
  std::int64_t steps_before = 0;    ///< Steps of each environment before the update's collections.
  std::int64_t steps_after = 0;     ///< Steps of each environment after them.
  double progress_remaining = 1.0;  ///< Falls from 1 to 0 during training.
  std::optional<double> chosen_lr = {};  ///< Replaces the schedule's learning rate, if it is set.
  bool log = false;                      ///< True if a row of progress.csv follows.
};

struct off_policy_report {
  std::int64_t version = 0;  ///< The version of the new weights.
  /// The values for progress.csv; empty unless `log` was set.
  std::vector<named_number> metrics;
  std::int64_t skipped = 0;  ///< Gradient steps of this update skipped for non-finite numbers.
  double learning_rate = 0;  ///< The learning rate of the last gradient step.
};

/// The weights that act, and the other tensors of a model.
struct published_model {
  weights acting;
  named_tensors beside;
};

/// The role that learns. It draws minibatches directly from the replay, so that they never pass
/// through the loop, and sends new weights to the collectors.
class off_policy_trainer : public trainer_base<transition_learner> {
 public:
  /// The learner and its progress. It is passed to `serve` and outlives the replica, so that a
  /// restarted replica goes on at the gradient step that its predecessor had reached. One trainer
  /// uses it.
  struct storage : trained_learner<transition_learner> {
    std::int64_t published = -1;   ///< The newest version in the weight store; -1 means none.
    std::int64_t taken = 0;        ///< Gradient steps taken in the update under way.
    std::int64_t skipped = 0;      ///< Gradient steps skipped in the update under way, or the last.
    bool begun = false;            ///< True while an update is under way.
    metric_means means;            ///< Means over the gradient steps since the last row.
    bool logged = false;           ///< A row has `means`; the next update clears them.
    std::vector<float> obs_scale;  ///< Published with the weights; empty without normalize_obs.
  };

  /// `make` makes the learner inside the trainer's replica, if `on` has none yet.
  /// `target_update_steps` are the steps of each environment between updates of the targets; 0
  /// means that the learner updates them by itself.
  off_policy_trainer(const maker& make, std::size_t batch_size, transition_widths widths,
                     std::int64_t target_update_steps, service<transition_replay> transitions,
                     service<weight_store> store, std::shared_ptr<storage> on);

  /// Puts the first weights into the store, or takes the version of those that it has.
  task<> catch_up();

  /// Takes the gradient steps of one update and sends the new weights to every collector, as
  /// control messages that do not queue behind work. Called again for an update that is done, it
  /// only sends the weights.
  task<off_policy_report> train(off_policy_update due, service<collector> collectors);

  /// Puts the current weights into the store and returns them with the tensors that don't act. This
  /// happens only on request, because there may be an update every few hundred microseconds.
  task<published_model> publish();

  std::string save() const;
  /// Restores what `save` returned. Throws state_error, or std::invalid_argument if it is the state
  /// of another network.
  void restore(std::string bytes);

 private:
  std::vector<named_number> row() const;
  void update_targets(const off_policy_update& due);
  task<> take_step(double progress_remaining, std::optional<double> chosen_lr);
  task<transition_rows> draw(double progress_remaining);
  task<> fetch_obs_scale();

  std::shared_ptr<storage> storage_;
  std::size_t batch_size_;
  transition_widths widths_;
  std::int64_t target_update_steps_;
  service<transition_replay> transitions_;
  transition_rows rows_;    // its buffers travel to the replay and back
  transition_batch batch_;  // swaps its columns with those of rows_
};

}  // namespace troupe
