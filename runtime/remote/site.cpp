#include "runtime/remote/site.hpp"

#include "runtime/remote/stand_in.hpp"

namespace troupe::detail {

ref<inbox> site::start_replica(std::shared_ptr<service_state> service,
                               std::shared_ptr<const role_factory> factory,
                               const replica_info& info, std::shared_ptr<replica_slot> slot,
                               ready_function ready) {
  const auto actor =
      system_.actors().spawn<stand_in>(std::ref(system_), std::move(service), std::move(factory),
                                       info, std::move(slot), std::move(ready), std::ref(*this));
  return make_local_inbox(caf::actor_cast<caf::strong_actor_ptr>(actor));
}

}  // namespace troupe::detail
