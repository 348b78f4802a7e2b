#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "actors/checkpoint/shelf.hpp"
#include "actors/replay/transition_replay.hpp"
#include "algorithms/learner/metric_means.hpp"
#include "algorithms/off_policy/collector.hpp"
#include "algorithms/off_policy/transition_batch.hpp"

namespace troupe {

/// An update rule as off_policy_trainer wants it.
class off_policy_learner {
 public:
  virtual ~off_policy_learner() = default;

  /// One gradient step. `progress_remaining` falls from 1 to 0 over the training. `chosen_lr`: the
  /// optimisers' step size in place of the schedule's, where it is set.
  virtual void update(const transition_batch& batch, double progress_remaining,
                      std::optional<double> chosen_lr) = 0;
  /// |Q - target| of the rows of the last gradient step, for prioritised replay.
  virtual std::span<const float> td_errors() const = 0;
  /// Every environment has made that many steps: DQN's target follows them.
  virtual void stepped(std::int64_t before, std::int64_t after);
  /// float [P], what collectors act with.
  virtual std::span<const float> acting() const = 0;
  /// Of the last gradient step; nothing if it was skipped. A row of progress.csv has the means over
  /// the gradient steps since the row before.
  virtual named_values metrics() const = 0;
  /// What a row has as it is now: "train/learning_rate" of the last gradient step, and
  /// "train/n_updates", the gradient steps since the start.
  virtual named_values counts() const = 0;
  /// Of the last gradient step.
  virtual double learning_rate() const = 0;

  virtual std::string save() const = 0;
  /// Throws state_error, or std::invalid_argument if it is of another network.
  virtual void restore(const std::string& bytes) = 0;
};

/// What an update is to do.
struct off_policy_update {
  std::int64_t version = 0;  ///< Of the weights that it begins from.
  std::int64_t gradient_steps = 1;
  std::int64_t steps_before = 0;  ///< Of each environment, before the collections it is due on.
  std::int64_t steps_after = 0;
  double progress_remaining = 1.0;       ///< Falls from 1 to 0 over the training.
  std::optional<double> chosen_lr = {};  ///< In place of the schedule's, where it is set.
  bool log = false;                      ///< A row of progress.csv follows.
};

struct off_policy_report {
  std::int64_t version = 0;  ///< Of the weights now.
  named_values metrics;      ///< Of that row; empty without one.
  std::int64_t skipped = 0;  ///< Gradient steps of this update with non-finite numbers.
  double learning_rate = 0;  ///< Of the last gradient step.
};

/// The role that learns: draws minibatches from the store itself, so that they never pass through
/// the loop, and brings new weights to the collectors.
class off_policy_trainer {
 public:
  using maker = std::function<std::unique_ptr<off_policy_learner>()>;

  /// The learner, and how far it has come. Given to `serve`, it outlives the replica: one that is
  /// restarted goes on with the gradient step at which the one before it was. For one trainer.
  struct shelf : shelf_base {
    std::unique_ptr<off_policy_learner> learner;
    std::int64_t version = 0;
    std::int64_t published = -1;
    std::int64_t taken = 0;        ///< Gradient steps of the update under way.
    std::int64_t skipped = 0;      ///< Those of them that were skipped; else of the last update.
    bool begun = false;            ///< An update is under way.
    metric_means means;            ///< Over the gradient steps since the last row.
    bool logged = false;           ///< A row has them: they begin anew with the next update.
    std::vector<float> obs_scale;  ///< That the weights go with; empty without normalize_obs.
  };

  /// `make` makes the learner, here in the trainer's own replica, where `on` has none yet.
  off_policy_trainer(const maker& make, std::size_t batch_size, transition_widths widths,
                     service<transition_replay> transitions, service<weight_store> store,
                     std::shared_ptr<shelf> on);

  /// Puts the first weights into the store.
  task<> catch_up();

  /// The gradient steps of one update; then every collector has the new weights, which it gets as a
  /// control message, so it never queues behind work. Asked again for an update that is done, it
  /// only gives them the weights.
  task<off_policy_report> train(off_policy_update due, service<collector> collectors);

  /// The current weights, which the store has then too: it is given them only when somebody asks,
  /// for there is an update every few hundred microseconds.
  task<weights> publish();

  std::string save() const;
  /// Throws state_error, or std::invalid_argument if it is of another network.
  void restore(std::string bytes);

 private:
  weights current() const;
  named_values row() const;
  task<> take_step(double progress_remaining, std::optional<double> chosen_lr);
  task<transition_rows> draw(double progress_remaining);
  task<> fetch_obs_scale();

  std::shared_ptr<shelf> shelf_;
  shelf_claim claim_;
  std::size_t batch_size_;
  transition_widths widths_;
  service<transition_replay> transitions_;
  service<weight_store> store_;
  transition_rows rows_;    // travels to the store and back
  transition_batch batch_;  // exchanges its columns with rows_
};

}  // namespace troupe
