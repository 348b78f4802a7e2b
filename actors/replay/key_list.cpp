#include "actors/replay/key_list.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace troupe {

void key_list::add(std::uint64_t key) {
  if (!places_.try_emplace(key, keys_.size()).second) {
    throw std::invalid_argument(fmt::format("selector: key {}: expected a new one", key));
  }
  keys_.push_back(key);
}

std::size_t key_list::erase(std::uint64_t key) {
  const auto freed = place(key);
  const auto last = keys_.back();
  keys_[freed] = last;
  places_[last] = freed;
  keys_.pop_back();
  places_.erase(key);
  return freed;
}

std::size_t key_list::place(std::uint64_t key) const {
  const auto found = places_.find(key);
  if (found == places_.end()) {
    throw std::out_of_range(fmt::format("selector: key {}: not there", key));
  }
  return found->second;
}

}  // namespace troupe
