#pragma once
// The metrics of one process in Prometheus's form. Roles get handles from the registry and count
// with them; the metrics server asks the registry for the text of a scrape.

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

/// Label names with their values, such as {{"env", "CartPole-v1"}}. Names must be few and fixed,
/// and the number of values bounded: a value is never an id, a path or the text of an error. A
/// value that is not UTF-8 or is longer than 64 bytes becomes "other" and is counted as rejected.
using metric_labels = std::map<std::string, std::string>;

/// Who may read a board of the status page. Texts of prompts and answers are for the user alone.
enum class board_readers {
  everybody,  ///< Everybody who reaches the port of the metrics.
  user,       ///< Those who have the address that metrics_server::page() returns.
};

// The handles below are cheap to copy, and any thread may use them. A handle stays in its process:
// a role that may live in another one takes a metrics_registry* instead, which stands for the
// registry of the process that the role is in, and makes its handles. A handle must not be used
// after its registry was destroyed. A default-constructed handle does nothing. Refused values are
// counted in troupe_metrics_rejected_total.

/// A number that only grows.
class metric_counter {
 public:
  metric_counter() = default;
  /// Adds `amount`; refuses a negative or non-finite one.
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
  /// Sets the value; refuses a non-finite one.
  void set(double value) const;
  /// Adds `amount`, which may be negative.
  void increment(double amount = 1) const;
  double value() const;

 private:
  friend class metrics_registry;
  metric_gauge(prometheus::Gauge* to, detail::metric_rejections* rejections)
      : to_(to), rejections_(rejections) {}
  prometheus::Gauge* to_ = nullptr;
  detail::metric_rejections* rejections_ = nullptr;
};

/// Counts values: how many were at most each bound, how many there were in all, and their sum.
class metric_histogram {
 public:
  metric_histogram() = default;
  /// Counts a value; refuses a non-finite one.
  void observe(double value) const;

 private:
  friend class metrics_registry;
  metric_histogram(prometheus::Histogram* to, detail::metric_rejections* rejections)
      : to_(to), rejections_(rejections) {}
  prometheus::Histogram* to_ = nullptr;
  detail::metric_rejections* rejections_ = nullptr;
};

/// One prometheus::Registry, and collectors that are asked only at scrape time, so that a hot path
/// only writes relaxed atomics. It has the metrics of this process from the start
/// (process_collector). Any thread may call any member function.
class metrics_registry {
 public:
  metrics_registry();
  ~metrics_registry();
  metrics_registry(const metrics_registry&) = delete;
  metrics_registry& operator=(const metrics_registry&) = delete;

  // Troupe's own names begin with troupe_; a program's may begin with anything else.
  // These functions create a metric, whose value 0 is exported from then on. A second call with the
  // same name and labels returns the same metric. They throw std::invalid_argument naming the
  // metric if Prometheus refuses the name or it is used by another kind of metric, if a
  // counter's name does not end in _total (or the name of another kind does), if Prometheus refuses
  // a label name, if the help text is empty or holds a line break or backslash, and if the bounds
  // are empty, not finite or do not increase.
  metric_counter counter(const std::string& name, const std::string& help,
                         const metric_labels& labels = {});
  metric_gauge gauge(const std::string& name, const std::string& help,
                     const metric_labels& labels = {});
  metric_histogram histogram(const std::string& name, const std::string& help,
                             const std::vector<double>& bounds, const metric_labels& labels = {});

  /// Adds a collector, which the scraping thread asks at each scrape.
  void add(std::shared_ptr<const prometheus::Collectable> collector);
  /// Adds a collector that is asked at each scrape for as long as its owner keeps it.
  void watch(std::weak_ptr<const prometheus::Collectable> collector);

  /// Removes a collector whose subject has ended, after asking it once more. Its counts must not
  /// change any more. They stay in the scrapes, a scrape under way included, and each scrape has
  /// them once. Its gauges don't stay. If the label `whose` is given, at most
  /// `retired_values_max` different values of it are kept. The counts of collectors that are
  /// retired later, with other values, are added up under the value "other".
  /// All counts that stay take at most 32 MiB; names and series beyond are left out and counted as
  /// rejected.
  void retire(const std::shared_ptr<const prometheus::Collectable>& collector,
              const std::string& whose = "");
  static constexpr std::size_t retired_values_max = 100;

  /// Returns the scrape in Prometheus's text format 0.0.4, with families sorted by name. First it
  /// lets fetching_collectors fetch, which may take until their deadlines. A series that several
  /// collectors report is merged: counters and histograms are added up, and of gauges the one that
  /// was registered last is shown. Input that would spoil the scrape is left out and counted:
  /// non-finite numbers, names that Prometheus refuses, a name with two kinds, and a
  /// collector that throws.
  std::string text() const;
  /// Returns the families of a scrape without fetching first.
  std::vector<prometheus::MetricFamily> families() const;

  /// Sets a board of the status page, which shows a part of the program, such as a chart. `board`
  /// is a JSON object; status_page.html describes its content. A board of the same name is
  /// replaced. Throws std::invalid_argument naming the board if it is no JSON object, or longer
  /// than board_bytes_max.
  void show(const std::string& name, std::string board,
            board_readers readers = board_readers::everybody);
  static constexpr std::size_t board_bytes_max = std::size_t{1} << 20;
  /// Returns all boards as one JSON object, with their names as keys. A board that is not for
  /// `reader` is {"hidden":true}.
  std::string boards(board_readers reader = board_readers::everybody) const;

 private:
  std::unique_ptr<detail::metrics_store> store_;
};

}  // namespace troupe
