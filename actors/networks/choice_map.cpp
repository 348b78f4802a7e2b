#include "actors/networks/choice_map.hpp"

#include <algorithm>
#include <functional>

#include "actors/environments/action_numbers.hpp"

namespace troupe {

choice_map::choice_map(const space& actions) {
  const auto numbers = numbers_of(actions).integers;
  const auto is_binary = [](const action_numbers::integer& each) { return each.binary; };
  std::size_t choice = 0;
  auto bit = static_cast<std::size_t>(std::ranges::count_if(numbers, std::not_fn(is_binary)));
  bool changes = false;
  for (const auto& each : numbers) {
    integers_.push_back({each.binary ? bit++ : choice++, each.first});
    changes = changes || integers_.back().choice + 1 != integers_.size() || each.first != 0;
  }
  if (!changes) integers_.clear();
}

void choice_map::to_environment(std::span<std::int64_t> rows) const {
  if (integers_.empty()) return;
  std::vector<std::int64_t> choices(integers_.size());
  for (auto row = rows.begin(); row != rows.end();) {
    std::copy_n(row, choices.size(), choices.begin());
    for (const auto& [choice, first] : integers_) *row++ = first + choices[choice];
  }
}

}  // namespace troupe
