#pragma once
// What is counted in the processes that run replicas for this one, shown among this one's metrics.
// Any thread. Internal to runtime/.

#include <prometheus/client_metric.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>

#include "runtime/metrics/fetching_collector.hpp"
#include "runtime/remote/connection.hpp"

namespace troupe {
class metrics_registry;
}

namespace troupe::detail {

/// Asks the other sides of connections for their metrics, and keeps each one's last answer.
class remote_metrics final : public fetching_collector,
                             public std::enable_shared_from_this<remote_metrics> {
 public:
  /// How long a scrape waits for answers; of who is later, the answer before is shown.
  static constexpr std::chrono::milliseconds patience{250};
  /// The same where the answers go on to another process, which waits as well.
  static constexpr std::chrono::milliseconds patience_between{150};
  /// Bytes of one answer. A process that has more to say sends none.
  static constexpr std::size_t answer_max = std::size_t{1} << 20;

  enum class after_its_end {
    /// Counters and histograms stay, and those of a successor with the same label add to them, as
    /// Prometheus's clients do for worker processes: nobody else can tell what it has done.
    stay,
    /// Nothing does: the process goes on without its link, and comes back with what it counted.
    go,
  };

  /// What stays goes to `home`.
  explicit remote_metrics(metrics_registry& home) : home_(home) {}

  /// Asks at the other end of `to` from now on. Every sample gets the label, unless it has it.
  void add(const std::shared_ptr<connection>& to, prometheus::ClientMetric::Label whose,
           after_its_end then);
  /// Its link has closed.
  void remove(const connection& to);
  void remove_all();

  /// Asks everybody, and calls `done`, on any thread, once all have answered or have gone. At most
  /// `rounds_max` are asked at a time: a further one ends the oldest.
  void ask(std::function<void()> done) const;
  static constexpr std::size_t rounds_max = 16;

  void fetch() const override;
  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  struct source {
    std::shared_ptr<connection> to;
    prometheus::ClientMetric::Label whose;
    after_its_end then;
    std::shared_ptr<const message> last;  ///< Null until it has answered.
  };
  struct round {
    std::set<const connection*> awaited;
    std::function<void()> done;
  };
  using doers = std::vector<std::function<void()>>;

  void heard(const connection& from, std::shared_ptr<const message> answer);
  /// `from` is awaited no more, in round `id` or, if it has gone, in any. What is to be done then,
  /// without the lock.
  doers strike(const connection& from, std::optional<std::uint64_t> id);

  metrics_registry& home_;
  mutable std::mutex mutex_;
  std::map<const connection*, source> sources_;
  mutable std::map<std::uint64_t, round> rounds_;  ///< Under way, by number.
  mutable std::uint64_t last_round_ = 0;
};

}  // namespace troupe::detail
