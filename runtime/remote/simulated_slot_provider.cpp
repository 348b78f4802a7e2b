#include "runtime/remote/simulated_slot_provider.hpp"

#include "runtime/remote/peer.hpp"
#include "runtime/remote/remote_context.hpp"
#include "runtime/remote/simulated_link.hpp"

namespace troupe::detail {

namespace {

class simulated_slot final : public remote_slot {
 public:
  using remote_slot::remote_slot;
  ~simulated_slot() override { to->close("its remote replica has ended"); }
};

}  // namespace

void simulated_slot_provider::allocate(const service_state&, const replica_info&, answer got) {
  const auto [mine, theirs] = simulated_link::make(system_);
  const auto here = std::make_shared<connection>(mine);
  const auto there = std::make_shared<connection>(theirs);
  start_peer(system_, there, peer::side::guest);
  start_peer(system_, here, peer::side::host);
  got(std::make_shared<simulated_slot>(here), nullptr);
}

}  // namespace troupe::detail
