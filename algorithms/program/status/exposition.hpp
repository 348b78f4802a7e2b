#pragma once
// A parser of Prometheus's text format, version 0.0.4, for `troupe status`:
// https://prometheus.io/docs/instrumenting/exposition_formats/

#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::command {

/// Reports a text that is not in the format, such as "line 7: expected a value, got \"1.2.3\"".
class exposition_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One sample of a metric.
struct metric_sample {
  std::string name;  ///< "troupe_requests_total"
  /// The values are printable and have at most about 200 bytes, because any program may have
  /// written them (detail::printable).
  std::map<std::string, std::string> labels;
  double value = 0;  ///< The value may be infinite or NaN.

  /// The value of a label. Empty if the sample has no such label.
  const std::string& label(const std::string& key) const;
};

/// Every sample in the order of the text. Comments and time stamps are ignored. Throws
/// exposition_error for the first line that is malformed.
std::vector<metric_sample> parse_exposition(std::string_view text);

}  // namespace troupe::command
