#include "runtime/service/readiness.hpp"

#include <charconv>
#include <map>
#include <sstream>
#include <string>

#include "runtime/metrics/registry.hpp"

namespace troupe {

namespace {

/// A gauge's value by its labels, as they stand in a scrape.
std::map<std::string, double> read_gauge(const std::string& scrape, const std::string& name) {
  std::map<std::string, double> values;
  std::istringstream lines(scrape);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(name + '{')) continue;
    const auto space = line.rfind(' ');
    double value = 0;
    std::from_chars(line.data() + space + 1, line.data() + line.size(), value);
    values[line.substr(name.size(), space - name.size())] = value;
  }
  return values;
}

}  // namespace

bool services_are_up(const metrics_registry& metrics) {
  const auto scrape = metrics.text();
  const auto ready = read_gauge(scrape, "troupe_replicas_ready");
  for (const auto& [service, desired] : read_gauge(scrape, "troupe_replicas_desired")) {
    const auto found = ready.find(service);
    if (desired > 0 && (found == ready.end() || found->second < 1)) return false;
  }
  return true;
}

}  // namespace troupe
