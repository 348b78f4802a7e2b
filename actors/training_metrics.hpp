#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace troupe {

class metrics_registry;

/// What a training run tells Prometheus, as verbs; the names are in docs/metrics.md. A cheap
/// value that any role may hold; a default constructed one tells nobody.
class training_metrics {
 public:
  training_metrics() = default;
  /// `env`: the environment's id, the label of what is counted by environment.
  training_metrics(metrics_registry& registry, const std::string& env);

  void env_stepped(std::int64_t steps) const;
  void episode_ended(double episode_return, std::int64_t length, bool truncated) const;
  /// An episode was dropped. `reason` is one of threw, nonfinite, shape.
  void env_failed(std::string_view reason) const;

  /// A loop's episode ended with an error, and is generated anew.
  void rollout_failed() const;

  void batch_sampled(std::int64_t staleness) const;
  void replay_holds(std::size_t items) const;

  void trained(std::int64_t rows, double seconds) const;
  void steps_skipped(std::int64_t optimizer_steps) const;
  void loss(double total, double kl, double entropy, double grad_norm, double clip_ratio,
            double lr) const;
  void weights_pushed(std::int64_t version, double seconds) const;

  /// Something that a run leaves on the disk was not written: a record, a curve, a model.
  void write_failed() const;

 private:
  struct handles;
  std::shared_ptr<const handles> to_;
};

}  // namespace troupe
