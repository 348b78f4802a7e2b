#include "runtime/service/state/replica_slot.hpp"

namespace troupe::detail {

replica_slot::replica_slot(std::size_t index)
    : index(index), serial([] {
        static std::atomic<std::uint64_t> last{0};
        return ++last;
      }()) {}

replica_slot::~replica_slot() {
  for (auto& row : endpoints) delete row.load();
}

endpoint_tally& replica_slot::tally_of(std::size_t row) {
  auto* known = endpoints[row].load(std::memory_order_relaxed);
  if (!known) {
    known = new endpoint_tally;
    endpoints[row].store(known, std::memory_order_release);
  }
  return *known;
}

void replica_slot::add_counts_of(const replica_slot& other) {
  for (std::size_t row = 0; row < max_endpoints; ++row) {
    const auto* counts = other.endpoints[row].load(std::memory_order_acquire);
    if (!counts) continue;
    auto& mine = tally_of(row);
    mine.duration.add(counts->duration);
    mine.queue_wait.add(counts->queue_wait);
    mine.threw += counts->threw.load();
  }
  batch_size.add(other.batch_size);
}

}  // namespace troupe::detail
