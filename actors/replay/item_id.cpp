#include "actors/replay/item_id.hpp"

#include <algorithm>

#include "runtime/base/random_bits.hpp"

namespace troupe {

namespace {

/// Returns a random number that is not 0. It is the kernel's even in a deterministic program,
/// because nothing depends on it except that it is unique.
std::uint64_t random_id() { return detail::random_number() | 1; }

}  // namespace

producer::producer() : id_(random_id()) {}

bool known_items::add(const item_id& id) {
  if (id.producer == 0) return true;
  auto& of = record_of(id.producer);
  if (id.number <= of.up_to || !of.beyond.insert(id.number).second) return false;
  if (of.beyond.size() > window) of.up_to = *of.beyond.begin();  // The missing items are given up.
  while (!of.beyond.empty() && *of.beyond.begin() <= of.up_to + 1) {
    of.up_to = *of.beyond.begin();
    of.beyond.erase(of.beyond.begin());
  }
  return true;
}

known_items::record& known_items::record_of(std::uint64_t producer) {
  if (!producers_.contains(producer) && producers_.size() == producers_max) {
    producers_.erase(std::min_element(
        producers_.begin(), producers_.end(),
        [](const auto& a, const auto& b) { return a.second.heard < b.second.heard; }));
  }
  auto& of = producers_[producer];
  of.heard = ++heard_;
  return of;
}

}  // namespace troupe
