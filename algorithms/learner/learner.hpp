#pragma once
// The base of the update rules' classes. A learner takes batches and changes the weights; it has no
// actors, so that it can be used without a run.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "actors/kernels/flush_denormals.hpp"
#include "actors/networks/named_tensors.hpp"
#include "actors/random/action_random.hpp"
#include "algorithms/learner/annealing.hpp"
#include "algorithms/learner/learner_state.hpp"
#include "algorithms/learner/learning_options.hpp"
#include "algorithms/learner/metric_means.hpp"
#include "algorithms/learner/non_finite_training.hpp"
#include "algorithms/learner/skip_guard.hpp"

namespace troupe {

/// What one update did.
struct learner_report {
  /// The numbers of the update with their names in progress.csv, such as "train/loss".
  std::vector<named_number> metrics;
  /// |Q - target| of the batch's rows [B], for prioritised replay; empty if the rule has none.
  std::vector<float> td_errors;
  double learning_rate = 0.0;
  std::int64_t n_updates = 0;  ///< Updates since the start.
  /// True if the update was ended because a loss or a gradient was not finite. Networks that were
  /// stepped before that keep their finite new weights.
  bool skipped = false;

  bool has(std::string_view name) const;
  /// Returns a metric. Throws std::out_of_range, with the names that there are, if there is none of
  /// that name.
  double operator[](std::string_view name) const;
};

/// The part of a learner that does not depend on its batches.
class any_learner {
 public:
  virtual ~any_learner() = default;

  /// The algorithm's name, for errors.
  const char* name() const { return name_; }
  /// What the last update did.
  const learner_report& last() const { return report_; }

  /// The parameters with which policies act, float [P].
  virtual std::span<const float> acting() const = 0;
  /// The tensors of a model that don't act, such as critics and SAC's entropy coefficient.
  virtual named_tensors beside() const { return {}; }
  /// Begins with a model: the acting parameters [P], and the tensors that `beside` returned, empty
  /// if the model has none. Targets become copies of them. Throws std::invalid_argument if they are
  /// of other networks, or if the learner can't begin with a model.
  virtual void start_from(std::span<const float> acting, const named_tensors& beside);
  /// Updates the target networks `times` times. Learners that update them by themselves do nothing.
  virtual void update_target(std::int64_t times = 1);

  /// The state from which a learner goes on exactly.
  std::string save() const;
  /// Restores what `save` returned. Throws state_error, and changes nothing, if it is no state or
  /// that of another learner.
  void restore(const std::string& bytes);
  /// Shows all parts of the state.
  virtual void visit_state(state_visitor& visit);

 protected:
  /// `seed` is that of random().
  any_learner(const char* name, const learning_options& options, std::uint64_t seed);
  any_learner(any_learner&&) = default;

  /// Throws std::invalid_argument unless acting parameters of a model are as many as acting().
  void expect_size_of(std::span<const float> acting) const;

  /// Begins the report of an update.
  void begin_update(double progress_remaining, std::optional<double> chosen_lr);
  /// Ends it. `taken` is false if the update was skipped.
  void end_update(bool taken);

  action_random& random() { return random_; }
  detail::skip_guard& guard() { return guard_; }
  learner_report& report() { return report_; }
  /// The number of the present update, from 1 on.
  std::int64_t n_updates() const { return n_updates_; }

 private:
  const char* name_;
  learning_options options_;
  action_random random_;
  detail::skip_guard guard_;
  std::int64_t n_updates_ = 0;
  learner_report report_;
};

/// An update rule over batches of one kind. An algorithm derives its learner from this class and
/// implements check_batch, step, acting and visit_state.
template <class Batch>
class learner : public any_learner {
 public:
  using batch = Batch;

  /// Makes one update. `progress_remaining` falls from 1 to 0 during training. `chosen_lr` replaces
  /// lr and its schedule. Throws std::invalid_argument if the batch does not fit, and
  /// non_finite_training after max_skipped_steps skipped updates in a row.
  const learner_report& update(const Batch& batch, double progress_remaining = 1.0,
                               std::optional<double> chosen_lr = {}) {
    check_batch(batch);
    const detail::flush_denormals flush;
    begin_update(progress_remaining, chosen_lr);
    end_update(step(batch));
    return report();
  }

 protected:
  using any_learner::any_learner;

  /// Throws std::invalid_argument if the batch does not fit.
  virtual void check_batch(const Batch& batch) const = 0;
  /// Takes the steps of the networks with report().learning_rate and writes the metrics. Returns
  /// false as soon as a loss or gradient is not finite.
  virtual bool step(const Batch& batch) = 0;
};

}  // namespace troupe
