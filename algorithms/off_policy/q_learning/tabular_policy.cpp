#include "algorithms/off_policy/q_learning/tabular_policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "actors/random/derived_seed.hpp"

namespace troupe {

tabular_policy::tabular_policy(const replica_info& info, q_table first, std::uint64_t seed)
    : random_(derived_seed(seed, "tabular_policy", {info.index, info.generation})) {
  update(std::move(first));
}

void tabular_policy::update(q_table fresh) {
  const auto size = fresh.values ? static_cast<std::int64_t>(fresh.values->size()) : 0;
  if (fresh.actions < 1 || size == 0 || size % fresh.actions != 0)
    throw std::invalid_argument(fmt::format(
        "tabular policy: expected whole rows of {} actions, got {} values", fresh.actions, size));
  if (!(fresh.epsilon >= 0 && fresh.epsilon <= 1))
    throw std::invalid_argument(
        fmt::format("tabular policy: epsilon: expected 0 to 1, got {}", fresh.epsilon));
  table_ = std::move(fresh);
}

tabular_actions tabular_policy::act(std::vector<std::int64_t> states) {
  tabular_actions chosen{{}, table_.version};
  chosen.actions.reserve(states.size());
  for (const auto state : states) {
    const bool explores = random_.uniform() < table_.epsilon;
    chosen.actions.push_back(explores ? static_cast<std::int64_t>(random_.below(
                                            static_cast<std::uint64_t>(table_.actions)))
                                      : best_action(state));
  }
  return chosen;
}

std::int64_t tabular_policy::best_action(std::int64_t state) const {
  const auto states = std::ssize(*table_.values) / table_.actions;
  if (state < 0 || state >= states)
    throw std::invalid_argument(
        fmt::format("tabular policy: state: expected 0 to {}, got {}", states - 1, state));
  const auto first = table_.values->begin() + state * table_.actions;
  return std::max_element(first, first + table_.actions) - first;
}

}  // namespace troupe
