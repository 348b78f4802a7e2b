#include "runtime/metrics/scrape.hpp"

#include <prometheus/check_names.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "runtime/metrics/label_value.hpp"

namespace troupe::detail {

namespace {

using prometheus::ClientMetric;
using prometheus::MetricType;

bool is_finite(MetricType type, const ClientMetric& metric) {
  switch (type) {
    case MetricType::Counter:
      return std::isfinite(metric.counter.value);
    case MetricType::Gauge:
      return std::isfinite(metric.gauge.value);
    case MetricType::Histogram:
      return std::isfinite(metric.histogram.sample_sum);
    default:
      return true;
  }
}

/// Replaces line breaks and backslashes by spaces. The serialiser doesn't escape help texts, so a
/// line break would end the comment.
std::string one_line(std::string help) {
  std::replace_if(
      help.begin(), help.end(), [](char c) { return c == '\n' || c == '\r' || c == '\\'; }, ' ');
  return help;
}

bool have_same_bounds(const ClientMetric::Histogram& a, const ClientMetric::Histogram& b) {
  return std::equal(a.bucket.begin(), a.bucket.end(), b.bucket.begin(), b.bucket.end(),
                    [](const auto& x, const auto& y) { return x.upper_bound == y.upper_bound; });
}

/// The bytes that a map takes for a name or a series beside its texts, at most about so many.
constexpr std::size_t entry_bytes = 512;

/// About the bytes that a series takes with its labels, which are in memory twice.
std::size_t bytes_of(const ClientMetric& metric) {
  std::size_t bytes = entry_bytes;
  for (const auto& label : metric.label)
    bytes += 2 * (sizeof label + label.name.size() + label.value.size());
  return bytes + metric.histogram.bucket.size() * sizeof(ClientMetric::Bucket) +
         metric.summary.quantile.size() * sizeof(ClientMetric::Quantile);
}

void merge(MetricType type, ClientMetric& into, ClientMetric from) {
  if (type == MetricType::Counter) {
    into.counter.value += from.counter.value;
  } else if (type == MetricType::Histogram && have_same_bounds(into.histogram, from.histogram)) {
    into.histogram.sample_count += from.histogram.sample_count;
    into.histogram.sample_sum += from.histogram.sample_sum;
    for (std::size_t i = 0; i < into.histogram.bucket.size(); ++i) {
      into.histogram.bucket[i].cumulative_count += from.histogram.bucket[i].cumulative_count;
    }
  } else {
    into = std::move(from);
  }
}

}  // namespace

void scrape::declare(const std::vector<prometheus::MetricFamily>& families) {
  for (const auto& each : families) {
    if (!prometheus::CheckMetricName(each.name)) continue;
    families_.try_emplace(each.name, family{one_line(each.help), each.type, {}});
  }
}

void scrape::add(std::vector<prometheus::MetricFamily> families) {
  for (auto& each : families) {
    if (!prometheus::CheckMetricName(each.name)) {
      rejections_.count(rejection::name);
      continue;
    }
    auto known = families_.find(each.name);
    if (known == families_.end()) {
      if (!take(entry_bytes + each.name.size() + each.help.size())) continue;
      known = families_.emplace(each.name, family{one_line(each.help), each.type, {}}).first;
    }
    auto& to = known->second;
    if (to.type != each.type) {
      rejections_.count(rejection::kind);
      continue;
    }
    for (auto& metric : each.metric) add_series(to, std::move(metric));
  }
}

void scrape::add_series(family& to, ClientMetric metric) {
  if (!is_finite(to.type, metric)) {
    rejections_.count(rejection::nonfinite);
    return;
  }
  for (auto& label : metric.label) {
    if (!prometheus::CheckLabelName(label.name)) {
      rejections_.count(rejection::name);
      return;
    }
    if (is_label_value(label.value)) continue;
    rejections_.count(rejection::label_value);
    label.value = "other";
  }
  std::sort(metric.label.begin(), metric.label.end());
  const auto known = to.series.find(metric.label);
  if (known != to.series.end()) {
    // A histogram of other buckets takes the place of the one before.
    const auto before = bytes_of(known->second), after = bytes_of(metric);
    if (after > before && !take(after - before)) return;
    merge(to.type, known->second, std::move(metric));
  } else if (take(bytes_of(metric))) {
    auto labels = metric.label;
    to.series.emplace(std::move(labels), std::move(metric));
  }
}

bool scrape::take(std::size_t bytes) {
  if (bytes > bytes_max_ - bytes_) {
    rejections_.count(rejection::memory);
    return false;
  }
  bytes_ += bytes;
  return true;
}

std::vector<prometheus::MetricFamily> scrape::families() const {
  std::vector<prometheus::MetricFamily> families;
  for (const auto& [name, from] : families_) {
    if (from.series.empty()) continue;
    auto& to = families.emplace_back(prometheus::MetricFamily{name, from.help, from.type, {}});
    for (const auto& [labels, metric] : from.series) to.metric.push_back(metric);
  }
  return families;
}

std::string to_text(const std::vector<prometheus::MetricFamily>& families) {
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, families);
  return std::move(out).str();
}

}  // namespace troupe::detail
