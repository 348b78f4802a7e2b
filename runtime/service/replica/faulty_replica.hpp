#pragma once
// A replica in a system with a fault plan. Internal to runtime/.

#include "runtime/service/replica/local_replica.hpp"

namespace troupe::detail {

/// Injects faults as its system's fault_source draws them: it loses, delays and repeats requests
/// and replies, takes long, and crashes.
class faulty_replica final : public local_replica {
 public:
  using local_replica::local_replica;

 private:
  void on_request(ref<call_base> call) override;
  void deliver(call_base& call) override;

  void take_up(ref<call_base> call);
  void lose_link(const call_base& call);
  void after(duration pause, std::function<void()> action);
};

}  // namespace troupe::detail
