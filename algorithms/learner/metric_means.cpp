#include "algorithms/learner/metric_means.hpp"

#include <algorithm>

namespace troupe {

void metric_means::add(std::span<const named_number> of_step) {
  for (const auto& [name, value] : of_step) {
    auto found = std::ranges::find(sums_, name, &sum::name);
    if (found == sums_.end()) found = sums_.insert(found, sum{name});
    found->total += value;
    ++found->count;
  }
}

named_values metric_means::means() const {
  named_values means;
  for (const auto& one : sums_) {
    means.emplace_back(one.name, one.total / static_cast<double>(one.count));
  }
  return means;
}

}  // namespace troupe
