#include "runtime/service/state/service_places.hpp"

namespace troupe::detail {

std::size_t service_places::take() {
  std::lock_guard lock(mutex_);
  if (free_.empty()) return taken_++;
  return free_.extract(free_.begin()).value();
}

void service_places::give_back(std::size_t place) {
  std::lock_guard lock(mutex_);
  free_.insert(place);
}

}  // namespace troupe::detail
