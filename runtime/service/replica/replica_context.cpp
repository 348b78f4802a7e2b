#include "runtime/service/replica/replica_context.hpp"

#include "runtime/service/replica/faulty_replica.hpp"
#include "runtime/service/replica/local_replica.hpp"

namespace troupe::detail {

ref<inbox> replica_context::start_replica(std::shared_ptr<service_state> service,
                                          std::shared_ptr<const role_factory> factory,
                                          const replica_info& info,
                                          std::shared_ptr<replica_slot> slot, ready_function ready,
                                          bool faulty, bool own_thread) {
  auto& me = *this;
  const auto its_service = service;
  const auto its_slot = slot;
  caf::actor actor;
  auto* threads = threads_in_virtual_time();
  std::optional<simulated_threads::scope> alone;
  if (threads && service->options.placement == placement::thread) {
    alone.emplace(*threads, std::make_shared<simulated_pool>(1));
  }
  if (faults() && faulty) {
    actor = actors().spawn<faulty_replica>(std::ref(me), std::move(service), std::move(factory),
                                           info, std::move(slot), std::move(ready));
  } else if (own_thread) {
    actor = actors().spawn<local_replica, caf::detached>(std::ref(me), std::move(service),
                                                         std::move(factory), info, std::move(slot),
                                                         std::move(ready));
  } else {
    actor = actors().spawn<local_replica>(std::ref(me), std::move(service), std::move(factory),
                                          info, std::move(slot), std::move(ready));
  }
  if (!deterministic()) local_turns_.add(*its_service, *its_slot, own_thread);
  return make_local_inbox(caf::actor_cast<caf::strong_actor_ptr>(actor));
}

}  // namespace troupe::detail
