#include "actors/reward/weighted_reward.hpp"

#include <fmt/format.h>

#include <cmath>
#include <set>

namespace troupe::detail {
namespace {

constexpr std::size_t name_bytes_max = 64;  // Longer label values are not exported.

const std::vector<double> bounds = {-10,  -5,  -2,   -1,  -0.5, -0.1, 0, 0.1,
                                    0.25, 0.5, 0.75, 0.9, 1,    2,    5, 10};

void check(const std::vector<std::string>& names) {
  if (names.empty() || names.size() > reward_functions_max)
    throw std::invalid_argument("reward: expected 1 to " + std::to_string(reward_functions_max) +
                                " functions, got " + std::to_string(names.size()));
  std::set<std::string> seen;
  for (const auto& name : names) {
    if (name.empty() || name.size() > name_bytes_max)
      throw std::invalid_argument("reward: expected a name of 1 to 64 bytes, got \"" +
                                  name.substr(0, 80) + '"');
    if (!seen.insert(name).second)
      throw std::invalid_argument("reward: expected each name once, got \"" + name + "\" twice");
  }
}

}  // namespace

bool is_reward(double value) { return std::abs(value) <= reward_size_max; }

void require_reward(const std::string& name, double value, const char* kind) {
  if (is_reward(value)) return;
  if (!std::isfinite(value))
    throw reward_error(name, fmt::format("expected a finite {}, got {}", kind, value));
  throw reward_error(name, fmt::format("expected a {} from {} to {}, got {}", kind,
                                       -reward_size_max, reward_size_max, value));
}

reward_meter::reward_meter(metrics_registry* registry, std::vector<std::string> names)
    : names_(std::move(names)), values_(names_.size()), failures_(names_.size()) {
  check(names_);
  if (registry == nullptr) return;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const metric_labels of{{"reward", names_[i]}};
    values_[i] = registry->histogram("troupe_reward_value",
                                     "Values of a reward function, not weighted.", bounds, of);
    failures_[i] =
        registry->counter("troupe_reward_failures_total",
                          "Evaluations of a reward function that threw or were not finite.", of);
  }
  total_ = registry->histogram("troupe_reward", "Weighted sums of reward functions.", bounds);
}

}  // namespace troupe::detail
