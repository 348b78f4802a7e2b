#pragma once
// The metrics of training runs.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/wire/codec.hpp"

namespace troupe {

/// The numbers of one update. An algorithm leaves out the numbers that it doesn't have.
struct update_figures {
  std::optional<double> loss;  ///< The total loss.
  std::optional<double> kl, entropy, grad_norm, clip_ratio, lr;
};

/// The episodes of a loop that ended with an error.
struct failed_rollouts {
  std::int64_t count = 0;
  std::string last_error;  ///< Empty if there was none.
};

/// The metrics that a training run exports, with one function for each event; docs/metrics.md lists
/// the names. The object is cheap to copy, and any role may hold one. A default-constructed one
/// does nothing.
class training_metrics {
 public:
  training_metrics() = default;
  /// `env` is the id of the environment, which labels the metrics of environments. Empty means that
  /// there is no environment, so that these metrics are not exported.
  training_metrics(metrics_registry& registry, const std::string& env);

  void env_stepped(std::int64_t steps) const;
  void episode_ended(double episode_return, std::int64_t length, bool truncated) const;
  /// Counts a dropped episode. `reason` is one of threw, nonfinite, shape, lost.
  void env_failed(std::string_view reason) const;
  /// Counts a process of environments that was replaced. `reason` is episodes or memory.
  void env_process_replaced(std::string_view reason) const;

  /// Counts an episode of a loop that ended with this error and is generated again.
  void rollout_failed(const std::string& error) const;
  /// Returns how many of these this object and its copies in this process have counted.
  failed_rollouts rollouts_failed() const;

  void batch_sampled(std::int64_t staleness) const;
  /// Sets the size of the replay, and the total numbers of items that were dropped so far:
  /// `repeated` because they were inserted before, and `stale` because they were older than
  /// allowed.
  void replay_holds(std::size_t items, std::size_t bytes, std::int64_t repeated,
                    std::int64_t stale) const;

  void trained(std::int64_t rows, double seconds) const;
  void steps_skipped(std::int64_t optimizer_steps) const;
  /// Sets the numbers of the last update. A number that no update has had is not exported.
  void updated(const update_figures& last) const;
  /// Says that all policies have weights of that version.
  void policy_version(std::int64_t version) const;
  /// Says that all policies have weights of that version, and how long the push took.
  void weights_pushed(std::int64_t version, double seconds) const;

  /// Counts a file of the run that could not be written: a record, a curve or a model.
  void write_failed() const;

 private:
  friend struct wire_codec<training_metrics>;
  struct handles;
  std::shared_ptr<const handles> to_;
};

/// Encodes only the environment's id. The decoded object counts in the registry of the receiving
/// process.
template <>
struct wire_codec<training_metrics> {
  static constexpr std::size_t bytes_min = 1;
  static std::size_t size(const training_metrics& metrics);
  static void write(const training_metrics& metrics, wire_writer& to);
  static training_metrics read(wire_reader& from);

 private:
  static std::optional<std::string> env_of(const training_metrics& metrics);
};

}  // namespace troupe
