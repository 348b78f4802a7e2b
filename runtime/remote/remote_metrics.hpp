#pragma once
// Shows the metrics of the processes that run replicas for this one among this process's metrics.
// May be used on any thread. Internal to runtime/.

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

class process_counts;

/// Asks the other sides of connections for their metrics, and keeps the last answer of each. Each
/// process has a collector of its own, which the registry retires when the process has ended. So
/// what a process has counted is in every scrape, and in none twice.
class remote_metrics final : public fetching_collector,
                             public std::enable_shared_from_this<remote_metrics> {
 public:
  /// The time that a scrape waits for answers. The last answer of a process that is later is shown.
  static constexpr std::chrono::milliseconds patience{250};
  /// The time to wait if the answers go on to another process, which waits as well.
  static constexpr std::chrono::milliseconds patience_between{150};
  /// The largest size of one answer in bytes. A process with more metrics sends none.
  static constexpr std::size_t answer_max = std::size_t{1} << 20;

  /// The counters and histograms of processes that have ended are given to `home`. The counts of a
  /// successor with the same label are added, as Prometheus's clients do for worker processes.
  explicit remote_metrics(metrics_registry& home) : home_(home) {}

  /// Asks at the other end of `to` from now on. Every sample gets the label, in place of one of
  /// that name and of any label `node` that the process has given it. A process that goes on
  /// without its link and comes back with its counts has a name `process`, which no other process
  /// has; for other processes it is empty.
  void add(const std::shared_ptr<connection>& to, prometheus::ClientMetric::Label whose,
           std::string process = "");
  /// Removes a connection whose link has closed.
  void remove(const connection& to);
  void remove_all();

  /// Asks all processes, and calls `done` on any thread once each has answered or is gone. At most
  /// `rounds_max` rounds run at a time; a further one ends the oldest.
  void ask(std::function<void()> done) const;
  static constexpr std::size_t rounds_max = 16;

  void fetch() const override;
  /// Nothing, because the processes have collectors of their own.
  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  struct source {
    std::shared_ptr<connection> to;  ///< Null for a process that may come back.
    std::string process;
    std::shared_ptr<process_counts> counts;  ///< Null once a later link has them.
  };
  struct round {
    std::set<const connection*> awaited;
    std::function<void()> done;
  };
  using callbacks = std::vector<std::function<void()>>;

  /// The largest number of processes whose return is awaited.
  static constexpr std::size_t absent_max = 100;

  void retire(const std::shared_ptr<process_counts>& gone);
  void heard(const connection& from, std::shared_ptr<const message> answer);
  /// Strikes `from` off round `id`, or off all rounds if it has gone. Returns the functions to call
  /// without the lock.
  callbacks strike(const connection& from, std::optional<std::uint64_t> id);

  metrics_registry& home_;
  mutable std::mutex mutex_;
  std::map<const connection*, source> sources_;
  /// The processes that may come back, by the values of their labels.
  std::map<std::string, source> absent_;
  mutable std::map<std::uint64_t, round> rounds_;  ///< The rounds under way, keyed by number.
  mutable std::uint64_t last_round_ = 0;
};

}  // namespace troupe::detail
