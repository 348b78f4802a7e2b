#include "actors/replay/heap_selector.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace troupe {

void heap_selector::do_insert(std::uint64_t key, double priority) {
  const rank mine(sign_ * priority, came_);
  if (!ranks_.emplace(key, mine).second) {
    throw std::invalid_argument(fmt::format("selector: key {}: expected a new one", key));
  }
  order_.emplace(mine, key);
  ++came_;
}

void heap_selector::do_update(std::uint64_t key, double priority) {
  auto& mine = find(key)->second;
  order_.erase(mine);
  mine.first = sign_ * priority;
  order_.emplace(mine, key);
}

void heap_selector::erase(std::uint64_t key) {
  const auto found = find(key);
  order_.erase(found->second);
  ranks_.erase(found);
}

std::vector<std::uint64_t> heap_selector::keys() const {
  std::map<std::uint64_t, std::uint64_t> by_arrival;
  for (const auto& [mine, key] : order_) by_arrival.emplace(mine.second, key);
  std::vector<std::uint64_t> keys;
  for (const auto& [came, key] : by_arrival) keys.push_back(key);
  return keys;
}

std::unordered_map<std::uint64_t, heap_selector::rank>::iterator heap_selector::find(
    std::uint64_t key) {
  const auto found = ranks_.find(key);
  if (found == ranks_.end()) {
    throw std::out_of_range(fmt::format("selector: key {}: not there", key));
  }
  return found;
}

}  // namespace troupe
