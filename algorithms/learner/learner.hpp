#pragma once
// The base of the update rules' classes. A learner takes batches and changes the weights; it has no
// actors, so that it can be used without a run.

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
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

/// What one update did. The reports of rules that have more to tell derive from it.
struct learner_report {
  /// The numbers of the update with their names in progress.csv, such as "train/loss".
  std::vector<named_number> metrics;
  /// |Q - target| of the batch's rows [B], for prioritised replay; empty if the rule has none.
  std::vector<float> td_errors;
  double learning_rate = 0.0;
  std::int64_t n_updates = 0;        ///< Updates since the start.
  std::int64_t trained_rows = 0;     ///< Rows or tokens trained on, where batches vary in them.
  std::int64_t optimizer_steps = 0;  ///< Steps taken in this update.
  /// Steps skipped because a loss or a gradient was not finite. Networks that were stepped before
  /// that keep their finite new weights.
  std::int64_t skipped_steps = 0;

  bool has(std::string_view name) const;
  /// Returns a metric. Throws std::out_of_range, with the names that there are, if there is none of
  /// that name.
  double operator[](std::string_view name) const;

  auto wire_members() {
    return std::tie(metrics, td_errors, learning_rate, n_updates, trained_rows, optimizer_steps,
                    skipped_steps);
  }
};

/// The part of a learner that does not depend on its batches.
class any_learner {
 public:
  virtual ~any_learner() = default;

  /// The algorithm's name, for errors.
  const char* name() const { return name_; }

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
  /// The learning rate unless one was chosen: lr by its schedule.
  virtual double scheduled_lr(double progress_remaining) const;

  /// The state from which a learner with these acting parameters goes on exactly.
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
  void begin_update(learner_report& report, double progress_remaining,
                    std::optional<double> chosen_lr);

  action_random& random() { return random_; }
  detail::skip_guard& guard() { return guard_; }
  /// The number of the present update, from 1 on.
  std::int64_t n_updates() const { return n_updates_; }

 private:
  const char* name_;
  learning_options options_;
  action_random random_;
  detail::skip_guard guard_;
  std::int64_t n_updates_ = 0;
};

/// An update rule over batches of one kind. An algorithm derives its learner from this class and
/// implements check_batch, acting, start_from, visit_state, and `step` or `train`. Report is
/// learner_report or derived from it.
template <class Batch, class Report = learner_report>
class learner : public any_learner {
  static_assert(std::derived_from<Report, learner_report>);

 public:
  using batch = Batch;
  using report_type = Report;

  /// Makes one update. `progress_remaining` falls from 1 to 0 during training. `chosen_lr` replaces
  /// lr and its schedule. Throws std::invalid_argument if the batch does not fit, and
  /// non_finite_training after max_skipped_steps skipped steps in a row.
  const Report& update(const Batch& batch, double progress_remaining = 1.0,
                       std::optional<double> chosen_lr = {}) {
    check_batch(batch);
    const detail::flush_denormals flush;
    clear_report();
    begin_update(report_, progress_remaining, chosen_lr);
    progress_remaining_ = progress_remaining;
    train(batch);
    return report_;
  }

  /// What the last update did.
  const Report& last() const { return report_; }

 protected:
  using any_learner::any_learner;

  /// Throws std::invalid_argument if the batch does not fit.
  virtual void check_batch(const Batch& batch) const = 0;
  /// Takes the optimiser's steps with report().learning_rate and writes the report, with
  /// `took_step` or `skip_step` for each of them. By default an update has one step.
  virtual void train(const Batch& batch) {
    if (step(batch)) {
      took_step();
    } else {
      ++report_.skipped_steps;
    }
  }
  /// Takes the step of all networks and writes the metrics, for rules whose update has one. Returns
  /// false, with the guard told, as soon as a loss or gradient is not finite.
  virtual bool step(const Batch&) { throw std::logic_error("a learner without a step"); }

  /// Counts a step that was taken.
  void took_step() {
    ++report_.optimizer_steps;
    guard().taken();
  }
  /// Counts a step that was skipped, because `what` is not finite. Throws non_finite_training after
  /// max_skipped_steps in a row.
  void skip_step(const char* what, double value) {
    ++report_.skipped_steps;
    guard().skipped(what, value);
  }

  Report& report() { return report_; }
  /// The present update's progress_remaining, for schedules.
  double progress_remaining() const { return progress_remaining_; }

 private:
  /// Empties the report but for the TD errors, and keeps its memory.
  void clear_report() {
    auto metrics = std::move(report_.metrics);
    auto td_errors = std::move(report_.td_errors);
    metrics.clear();
    report_ = Report();
    report_.metrics = std::move(metrics);
    report_.td_errors = std::move(td_errors);
  }

  Report report_;
  double progress_remaining_ = 1.0;
};

}  // namespace troupe
