#pragma once
// Merges the families of several collectors into one scrape. Internal to runtime/metrics/.

#include <prometheus/metric_family.h>

#include <cstddef>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "runtime/metrics/rejections.hpp"

namespace troupe::detail {

/// Merges the families of several collectors into one valid scrape; see metrics_registry::text for
/// the rules.
class scrape {
 public:
  /// Names and series beyond `bytes_max` bytes in memory are left out, and each is counted as a
  /// rejection. Those that are there go on being merged.
  explicit scrape(metric_rejections& rejections,
                  std::size_t bytes_max = std::numeric_limits<std::size_t>::max())
      : rejections_(rejections), bytes_max_(bytes_max) {}

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
  /// Takes so many bytes of the bound. Returns false, and counts a rejection, if they are not left.
  bool take(std::size_t bytes);

  metric_rejections& rejections_;
  const std::size_t bytes_max_;
  std::size_t bytes_ = 0;
  std::map<std::string, family> families_;
};

/// Returns the families in Prometheus's text format.
std::string to_text(const std::vector<prometheus::MetricFamily>& families);

}  // namespace troupe::detail
