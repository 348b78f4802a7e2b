#include "runtime/remote/slot_provider.hpp"

#include "runtime/remote/remote_replica.hpp"

namespace troupe::detail {

ref<inbox> slot_provider::start_replica(std::shared_ptr<service_state> service,
                                        std::shared_ptr<const role_factory> factory,
                                        const replica_info& info,
                                        std::shared_ptr<replica_slot> slot, ready_function ready) {
  const auto actor = system_.actors().spawn<remote_replica>(
      std::ref(system_), std::move(service), std::move(factory), info, std::move(slot),
      std::move(ready), std::ref(*this));
  return make_local_inbox(caf::actor_cast<caf::strong_actor_ptr>(actor));
}

}  // namespace troupe::detail
