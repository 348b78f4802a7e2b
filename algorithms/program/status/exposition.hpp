#pragma once
// Prometheus's text format, version 0.0.4, as a server writes it.
// https://prometheus.io/docs/instrumenting/exposition_formats/

#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::command {

/// A text that is not in the format: "line 7: expected a value, got \"1.2.3\"".
class exposition_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct metric_sample {
  std::string name;  ///< "troupe_requests_total"
  std::map<std::string, std::string> labels;
  double value = 0;  ///< May be an infinity or NaN.

  /// Empty where it has no such label.
  const std::string& label(const std::string& key) const;
};

/// Every sample in the order of the text; comments are passed over, time stamps too. Throws
/// exposition_error for the first line that is malformed.
std::vector<metric_sample> parse_exposition(std::string_view text);

}  // namespace troupe::command
