#include "algorithms/learner/metric_means.hpp"

#include <algorithm>

namespace troupe {

void metric_means::add(const named_values& of_step) {
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

void metric_means::save(state_writer& to) const {
  std::vector<std::string> names;
  std::vector<double> totals;
  std::vector<std::int64_t> counts;
  for (const auto& one : sums_) {
    names.push_back(one.name);
    totals.push_back(one.total);
    counts.push_back(one.count);
  }
  to.put("means.names", names);
  to.put("means.totals", totals);
  to.put("means.counts", counts);
}

void metric_means::restore(const state_reader& from) {
  const auto names = from.get<std::vector<std::string>>("means.names");
  const auto totals = from.get<std::vector<double>>("means.totals");
  const auto counts = from.get<std::vector<std::int64_t>>("means.counts");
  if (totals.size() != names.size() || counts.size() != names.size() ||
      std::ranges::any_of(counts, [](std::int64_t n) { return n < 1; })) {
    throw state_error("saved means: expected a sum and a count > 0 for each of " +
                      std::to_string(names.size()) + " names");
  }
  sums_.clear();
  for (std::size_t i = 0; i < names.size(); ++i) sums_.push_back({names[i], totals[i], counts[i]});
}

}  // namespace troupe
