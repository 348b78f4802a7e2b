#include "actors/replay/arrival_selector.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace troupe {

void arrival_selector::do_insert(std::uint64_t key, double) {
  if (places_.contains(key)) {
    throw std::invalid_argument(fmt::format("selector: key {}: expected a new one", key));
  }
  places_.emplace(key, order_.insert(order_.end(), key));
}

// A priority changes nothing here, but a key that is not there is a mistake everywhere.
void arrival_selector::do_update(std::uint64_t key, double) { find(key); }

void arrival_selector::erase(std::uint64_t key) {
  order_.erase(find(key));
  places_.erase(key);
}

selector::selection arrival_selector::do_select() {
  return {which_ == arrival::first ? order_.front() : order_.back(), 1.0};
}

std::list<std::uint64_t>::iterator arrival_selector::find(std::uint64_t key) const {
  const auto found = places_.find(key);
  if (found == places_.end()) {
    throw std::out_of_range(fmt::format("selector: key {}: not there", key));
  }
  return found->second;
}

}  // namespace troupe
