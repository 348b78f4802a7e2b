#include "runtime/metrics/registry.hpp"

#include <prometheus/check_names.h>
#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "runtime/base/utf8.hpp"
#include "runtime/metrics/fetching_collector.hpp"
#include "runtime/metrics/label_value.hpp"
#include "runtime/metrics/process_collector.hpp"
#include "runtime/metrics/rejections.hpp"
#include "runtime/metrics/scrape.hpp"

namespace troupe {

namespace detail {

/// What the counts of all retired collectors may take in memory. A node that comes and goes could
/// otherwise leave other series each time.
constexpr std::size_t retired_bytes_max = std::size_t{32} << 20;

class metrics_store {
 public:
  metrics_store()
      : rejections(
            prometheus::BuildCounter()
                .Name("troupe_metrics_rejected_total")
                .Help("Values and names that were refused because they would spoil a scrape.")
                .Register(registry)),
        retired_(rejections, retired_bytes_max) {}

  /// Returns every collector that still exists, in the order of registration. If `of_the_retired`
  /// is given, it gets the counts of the retired collectors at the same moment.
  std::vector<std::shared_ptr<const prometheus::Collectable>> collectors(
      std::vector<prometheus::MetricFamily>* of_the_retired = nullptr) {
    std::lock_guard lock(mutex_);
    if (of_the_retired) *of_the_retired = retired_.families();
    std::vector<std::shared_ptr<const prometheus::Collectable>> present;
    std::erase_if(collectors_, [&](const auto& entry) {
      auto collector = entry.watched.lock();
      if (collector) present.push_back(std::move(collector));
      return entry.watched.expired();
    });
    return present;
  }

  void add(std::shared_ptr<const prometheus::Collectable> owned,
           std::weak_ptr<const prometheus::Collectable> watched) {
    std::lock_guard lock(mutex_);
    collectors_.push_back({std::move(owned), std::move(watched)});
  }

  void retire(const std::shared_ptr<const prometheus::Collectable>& collector,
              const std::string& whose) {
    auto last = collector->Collect();
    std::erase_if(last, [](const auto& f) { return f.type == prometheus::MetricType::Gauge; });
    std::lock_guard lock(mutex_);
    std::erase_if(collectors_, [&](const auto& entry) { return entry.is_of(collector); });
    if (!whose.empty()) keep_few_values(last, whose);
    retired_.add(std::move(last));
  }

  struct board {
    std::string json;
    board_readers readers = board_readers::everybody;
  };

  void show(const std::string& name, board what) {
    std::lock_guard lock(mutex_);
    boards_[name] = std::move(what);
  }

  std::map<std::string, board> boards() {
    std::lock_guard lock(mutex_);
    return boards_;
  }

  /// Returns the labels with every invalid value replaced by "other".
  prometheus::Labels sanitise(const metric_labels& labels) {
    prometheus::Labels sane(labels.begin(), labels.end());
    for (auto& [name, value] : sane) {
      if (is_label_value(value)) continue;
      rejections.count(rejection::label_value);
      value = "other";
    }
    return sane;
  }

  prometheus::Registry registry;
  metric_rejections rejections;

 private:
  struct entry {
    /// Null for a collector that is only watched.
    std::shared_ptr<const prometheus::Collectable> owned;
    std::weak_ptr<const prometheus::Collectable> watched;

    bool is_of(const std::shared_ptr<const prometheus::Collectable>& collector) const {
      return !watched.owner_before(collector) && !collector.owner_before(watched);
    }
  };

  void keep_few_values(std::vector<prometheus::MetricFamily>& of, const std::string& whose) {
    auto& known = retired_values_[whose];
    for (auto& family : of) {
      for (auto& metric : family.metric) {
        for (auto& label : metric.label) {
          if (label.name != whose || known.contains(label.value)) continue;
          if (known.size() < metrics_registry::retired_values_max) {
            known.insert(label.value);
          } else {
            label.value = "other";
          }
        }
      }
    }
  }

  std::mutex mutex_;
  std::vector<entry> collectors_;
  std::map<std::string, board> boards_;  ///< The boards of the status page, by name.
  scrape retired_;                       ///< The sum of the counts of all retired collectors.
  /// The values that are kept of each label, by the label's name.
  std::map<std::string, std::set<std::string>> retired_values_;
};

namespace {

void require(bool holds, const std::string& metric, const std::string& expected) {
  if (!holds) throw std::invalid_argument("metric \"" + metric + "\": expected " + expected);
}

void check_names(const std::string& name, const std::string& help, const metric_labels& labels,
                 bool is_counter) {
  require(prometheus::CheckMetricName(name), name,
          "a name of letters, digits, underscores and colons that begins with no digit");
  require(
      name.ends_with("_total") == is_counter, name,
      is_counter ? "a counter's name to end in _total" : "only a counter's name to end in _total");
  require(!help.empty() && help.find_first_of("\n\r\\") == std::string::npos, name,
          "a help text in one line without backslashes, got \"" + help + "\"");
  require(is_utf8(help), name, "a help text in UTF-8");
  for (const auto& [label, value] : labels) {
    const bool reserved = label == "le" || label == "quantile";
    require(!reserved && prometheus::CheckLabelName(label), name,
            "a label name that Prometheus accepts, got \"" + label + "\"");
  }
}

void check_bounds(const std::string& name, const std::vector<double>& bounds) {
  const bool finite =
      std::all_of(bounds.begin(), bounds.end(), [](double bound) { return std::isfinite(bound); });
  const bool increasing =
      std::adjacent_find(bounds.begin(), bounds.end(), std::greater_equal<>()) == bounds.end();
  require(!bounds.empty() && finite && increasing, name, "finite bounds that increase");
}

template <class Builder>
auto& register_family(Builder builder, const std::string& name, const std::string& help,
                      prometheus::Registry& registry) {
  try {
    return builder.Name(name).Help(help).Register(registry);
  } catch (const std::invalid_argument&) {
    throw std::invalid_argument("metric \"" + name +
                                "\": expected one kind, it is already another");
  }
}

}  // namespace

}  // namespace detail

void metric_counter::increment(double amount) const {
  if (!to_) return;
  if (!std::isfinite(amount)) return rejections_->count(detail::rejection::nonfinite);
  if (amount < 0) return rejections_->count(detail::rejection::negative);
  to_->Increment(amount);
}

double metric_counter::value() const { return to_ ? to_->Value() : 0; }

void metric_gauge::set(double value) const {
  if (!to_) return;
  if (!std::isfinite(value)) return rejections_->count(detail::rejection::nonfinite);
  to_->Set(value);
}

void metric_gauge::increment(double amount) const {
  if (!to_) return;
  if (!std::isfinite(amount)) return rejections_->count(detail::rejection::nonfinite);
  to_->Increment(amount);
}

double metric_gauge::value() const { return to_ ? to_->Value() : 0; }

void metric_histogram::observe(double value) const {
  if (!to_) return;
  if (!std::isfinite(value)) return rejections_->count(detail::rejection::nonfinite);
  to_->Observe(value);
}

metrics_registry::metrics_registry() : store_(std::make_unique<detail::metrics_store>()) {
  add(std::make_shared<detail::process_collector>());
}

metrics_registry::~metrics_registry() = default;

metric_counter metrics_registry::counter(const std::string& name, const std::string& help,
                                         const metric_labels& labels) {
  detail::check_names(name, help, labels, /*is_counter=*/true);
  auto& family = detail::register_family(prometheus::BuildCounter(), name, help, store_->registry);
  return {&family.Add(store_->sanitise(labels)), &store_->rejections};
}

metric_gauge metrics_registry::gauge(const std::string& name, const std::string& help,
                                     const metric_labels& labels) {
  detail::check_names(name, help, labels, /*is_counter=*/false);
  auto& family = detail::register_family(prometheus::BuildGauge(), name, help, store_->registry);
  return {&family.Add(store_->sanitise(labels)), &store_->rejections};
}

metric_histogram metrics_registry::histogram(const std::string& name, const std::string& help,
                                             const std::vector<double>& bounds,
                                             const metric_labels& labels) {
  detail::check_names(name, help, labels, /*is_counter=*/false);
  detail::check_bounds(name, bounds);
  auto& family =
      detail::register_family(prometheus::BuildHistogram(), name, help, store_->registry);
  return {&family.Add(store_->sanitise(labels), bounds), &store_->rejections};
}

void metrics_registry::add(std::shared_ptr<const prometheus::Collectable> collector) {
  std::weak_ptr<const prometheus::Collectable> watched = collector;
  store_->add(std::move(collector), std::move(watched));
}

void metrics_registry::watch(std::weak_ptr<const prometheus::Collectable> collector) {
  store_->add(nullptr, std::move(collector));
}

void metrics_registry::retire(const std::shared_ptr<const prometheus::Collectable>& collector,
                              const std::string& whose) {
  store_->retire(collector, whose);
}

void metrics_registry::show(const std::string& name, std::string board, board_readers readers) {
  const auto parsed = nlohmann::json::parse(board, nullptr, /*allow_exceptions=*/false);
  if (!parsed.is_object() || board.size() > board_bytes_max) {
    throw std::invalid_argument("board \"" + name + "\": expected a JSON object of at most " +
                                std::to_string(board_bytes_max) + " bytes, got " +
                                std::to_string(board.size()) + " bytes");
  }
  store_->show(name, {std::move(board), readers});
}

std::string metrics_registry::boards(board_readers reader) const {
  std::string all;
  for (const auto& [name, board] : store_->boards()) {
    const bool is_hidden = board.readers == board_readers::user && reader != board_readers::user;
    all += (all.empty() ? "" : ",") + nlohmann::json(name).dump() + ":" +
           (is_hidden ? R"({"hidden":true})" : board.json);
  }
  return "{" + all + "}";
}

std::string metrics_registry::text() const {
  for (const auto& collector : store_->collectors()) {
    const auto* fetches = dynamic_cast<const detail::fetching_collector*>(collector.get());
    if (fetches) fetches->fetch();
  }
  return detail::to_text(families());
}

std::vector<prometheus::MetricFamily> metrics_registry::families() const {
  detail::scrape scrape(store_->rejections);
  // The kinds of this process's own metrics are not those that another process gives their names.
  scrape.declare(store_->registry.Collect());
  std::vector<prometheus::MetricFamily> of_the_retired;
  const auto collectors = store_->collectors(&of_the_retired);
  scrape.add(std::move(of_the_retired));
  for (const auto& collector : collectors) {
    try {
      scrape.add(collector->Collect());
    } catch (const std::exception&) {
      store_->rejections.count(detail::rejection::collector);
    }
  }
  // These come last, so that they count the values that were just refused.
  scrape.add(store_->registry.Collect());
  return scrape.families();
}

}  // namespace troupe
