#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/wire/codec.hpp"

namespace troupe {

/// What is known of an update. An algorithm leaves out what it has no such number for.
struct update_figures {
  std::optional<double> loss;  ///< In all.
  std::optional<double> kl, entropy, grad_norm, clip_ratio, lr;
};

/// What a training run tells Prometheus, as verbs; the names are in docs/metrics.md. A cheap
/// value that any role may hold; a default constructed one tells nobody.
class training_metrics {
 public:
  training_metrics() = default;
  /// `env`: the environment's id, the label of what is counted by environment; empty: there is no
  /// environment, and nothing of one is counted or exported.
  training_metrics(metrics_registry& registry, const std::string& env);

  void env_stepped(std::int64_t steps) const;
  void episode_ended(double episode_return, std::int64_t length, bool truncated) const;
  /// An episode was dropped. `reason` is one of threw, nonfinite, shape.
  void env_failed(std::string_view reason) const;

  /// A loop's episode ended with an error, and is generated anew.
  void rollout_failed() const;

  void batch_sampled(std::int64_t staleness) const;
  /// So far `repeated` items were dropped because they had come before, and `stale` because they
  /// were older than allowed.
  void replay_holds(std::size_t items, std::size_t bytes, std::int64_t repeated,
                    std::int64_t stale) const;

  void trained(std::int64_t rows, double seconds) const;
  void steps_skipped(std::int64_t optimizer_steps) const;
  /// What an update leaves out is not exported, unless one before had it.
  void updated(const update_figures& last) const;
  /// Whoever acts has weights of that version.
  void policy_version(std::int64_t version) const;
  /// The same, and how long that took.
  void weights_pushed(std::int64_t version, double seconds) const;

  /// Something that a run leaves on the disk was not written: a record, a curve, a model.
  void write_failed() const;

 private:
  friend struct wire_codec<training_metrics>;
  struct handles;
  std::shared_ptr<const handles> to_;
};

/// Arrives as what counts for the same environment in the registry of the process it arrives in.
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
