#include "actors/replay/uniform_selector.hpp"

namespace troupe {

void uniform_selector::do_insert(std::uint64_t key, double) { keys_.add(key); }

// A priority changes nothing here, but a key that is not there is a mistake everywhere.
void uniform_selector::do_update(std::uint64_t key, double) { keys_.place(key); }

selector::selection uniform_selector::do_select() {
  const auto place = static_cast<std::size_t>(random_->below(keys_.size()));
  return {keys_.at(place), 1.0 / static_cast<double>(keys_.size())};
}

}  // namespace troupe
