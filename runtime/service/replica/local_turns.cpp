#include "runtime/service/replica/local_turns.hpp"

#include <algorithm>

namespace troupe::detail {

namespace {

constexpr auto has_ended = [](const auto& replica) { return replica.turns->over.load(); };

}  // namespace

void local_turns::add(const service_state& service, const replica_slot& slot, bool own_thread) {
  std::lock_guard lock(mutex_);
  // Many may have ended since the last look.
  if (replicas_.size() == replicas_.capacity()) std::erase_if(replicas_, has_ended);
  replicas_.push_back({.serial = slot.serial,
                       .service = service.number,
                       .name = service.options.name,
                       .index = slot.index,
                       .own_thread = own_thread,
                       .turns = slot.turns});
}

std::vector<local_turns::turn> local_turns::look(time_point now) {
  std::vector<turn> found;
  std::lock_guard lock(mutex_);
  std::erase_if(replicas_, has_ended);
  for (auto& r : replicas_) {
    const auto seen_for = r.seen.look(r.turns->count, now);
    if (!r.turns->count.is_in_turn()) continue;
    found.push_back({.serial = r.serial,
                     .service = r.service,
                     .name = r.name,
                     .replica = r.index,
                     .own_thread = r.own_thread,
                     .abandoned = r.turns->abandoned.load(),
                     .seen_for = seen_for});
  }
  return found;
}

bool local_turns::note_logged(std::uint64_t serial) {
  std::lock_guard lock(mutex_);
  const auto place = std::ranges::find(replicas_, serial, &replica::serial);
  return place != replicas_.end() && !std::exchange(place->logged, true);
}

}  // namespace troupe::detail
