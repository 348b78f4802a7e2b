#pragma once
// Merges the families of several collectors into one scrape. Internal to runtime/metrics/.

#include <prometheus/metric_family.h>

#include <map>
#include <string>
#include <vector>

#include "runtime/metrics/rejections.hpp"

namespace troupe::detail {

/// Merges the families of several collectors into one valid scrape; see metrics_registry::text for
/// the rules.
class scrape {
 public:
  explicit scrape(metric_rejections& rejections) : rejections_(rejections) {}

  /// Sets the kinds and helps of these families, unless they are known. Their samples are not
  /// added.
  void declare(const std::vector<prometheus::MetricFamily>& families);
  void add(std::vector<prometheus::MetricFamily> families);
  std::vector<prometheus::MetricFamily> families() const;

 private:
  using label_set = std::vector<prometheus::ClientMetric::Label>;
  struct family {
    std::string help;
    prometheus::MetricType type;
    std::map<label_set, prometheus::ClientMetric> series;
  };

  void add_series(family& to, prometheus::ClientMetric metric);

  metric_rejections& rejections_;
  std::map<std::string, family> families_;
};

/// Returns the families in Prometheus's text format.
std::string to_text(const std::vector<prometheus::MetricFamily>& families);

}  // namespace troupe::detail
