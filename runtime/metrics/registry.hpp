#pragma once
// The metrics of one process in Prometheus's form: handles to count with, and the text of a scrape.

#include <prometheus/collectable.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace prometheus {
class Counter;
class Gauge;
class Histogram;
}  // namespace prometheus

namespace troupe {

namespace detail {
class metric_rejections;
class metrics_store;
}  // namespace detail

/// Label names with their values, such as {{"env", "CartPole-v1"}}. Names are few and fixed, values
/// bounded: never an id, a path or the text of an error. A value that is not UTF-8 or is longer
/// than 64 bytes becomes "other" and is counted as rejected.
using metric_labels = std::map<std::string, std::string>;

// Handles are cheap values for any thread. They live no longer than their registry; a default
// constructed one does nothing. What they refuse is counted in troupe_metrics_rejected_total.

/// A number that only grows.
class metric_counter {
 public:
  metric_counter() = default;
  /// Refuses a negative or non-finite amount.
  void increment(double amount = 1) const;
  double value() const;

 private:
  friend class metrics_registry;
  metric_counter(prometheus::Counter* to, detail::metric_rejections* rejections)
      : to_(to), rejections_(rejections) {}
  prometheus::Counter* to_ = nullptr;
  detail::metric_rejections* rejections_ = nullptr;
};

/// A number that goes up and down; it keeps its last finite value.
class metric_gauge {
 public:
  metric_gauge() = default;
  /// Refuses a non-finite value.
  void set(double value) const;
  /// Adds; a negative amount subtracts.
  void increment(double amount = 1) const;
  double value() const;

 private:
  friend class metrics_registry;
  metric_gauge(prometheus::Gauge* to, detail::metric_rejections* rejections)
      : to_(to), rejections_(rejections) {}
  prometheus::Gauge* to_ = nullptr;
  detail::metric_rejections* rejections_ = nullptr;
};

/// How often values fell below each bound, their count and their sum.
class metric_histogram {
 public:
  metric_histogram() = default;
  /// Refuses a non-finite value.
  void observe(double value) const;

 private:
  friend class metrics_registry;
  metric_histogram(prometheus::Histogram* to, detail::metric_rejections* rejections)
      : to_(to), rejections_(rejections) {}
  prometheus::Histogram* to_ = nullptr;
  detail::metric_rejections* rejections_ = nullptr;
};

/// One prometheus::Registry, and collectors that are asked at scrape time only, so that a hot path
/// writes relaxed atomics and nothing else. Knows this process's metrics from the start
/// (process_collector). All members may be called from any thread.
class metrics_registry {
 public:
  metrics_registry();
  ~metrics_registry();
  metrics_registry(const metrics_registry&) = delete;
  metrics_registry& operator=(const metrics_registry&) = delete;

  // A metric exists from here on, so its 0 is exported; asking again for the same name and labels
  // gives the same metric. Throw std::invalid_argument naming the metric for: a name that does not
  // begin with troupe_ or is used by another kind, a counter's that does not end in _total (or
  // another's that does), a label name Prometheus refuses, a help text that is empty or holds a
  // line break or backslash, bounds that are empty, not finite or do not increase.
  metric_counter counter(const std::string& name, const std::string& help,
                         const metric_labels& labels = {});
  metric_gauge gauge(const std::string& name, const std::string& help,
                     const metric_labels& labels = {});
  metric_histogram histogram(const std::string& name, const std::string& help,
                             const std::vector<double>& bounds, const metric_labels& labels = {});

  /// Asks this collector at each scrape, from the scraping thread.
  void add(std::shared_ptr<const prometheus::Collectable> collector);
  /// The same for as long as somebody else keeps the collector.
  void watch(std::weak_ptr<const prometheus::Collectable> collector);

  /// Lets go of a collector whose subject has ended, after a last look at it: what it counted stays
  /// in the scrapes, its gauges don't. Of the label `whose`, if it is given, at most
  /// `retired_values_max` values stay: what those with other values counted, that are retired
  /// later, adds up under the value "other".
  void retire(const std::shared_ptr<const prometheus::Collectable>& collector,
              const std::string& whose = "");
  static constexpr std::size_t retired_values_max = 100;

  /// Prometheus's text format 0.0.4, families sorted by name. First it lets fetching_collectors
  /// fetch, which may take as long as they say. A series that several collectors
  /// report is one: counters and histograms add up, of gauges the one registered last stands. What
  /// would spoil the scrape is left out and counted: non-finite numbers, names without the prefix
  /// troupe_ or process_, a name with two kinds, a collector that throws.
  std::string text() const;
  /// The same, of what is known now.
  std::vector<prometheus::MetricFamily> families() const;

  /// What the status page shows of a part of the program, such as a chart, as a JSON object:
  /// status_page.html says what may be in it. Replaces what was shown by that name. Throws
  /// std::invalid_argument naming it for what is no JSON object, or longer than board_bytes_max.
  void show(const std::string& name, std::string board);
  static constexpr std::size_t board_bytes_max = std::size_t{1} << 20;
  /// All of these as one JSON object, by their names.
  std::string boards() const;

 private:
  std::unique_ptr<detail::metrics_store> store_;
};

}  // namespace troupe
