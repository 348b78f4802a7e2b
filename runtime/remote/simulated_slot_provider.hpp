#pragma once

#include "runtime/remote/slot_provider.hpp"

namespace troupe::detail {

/// The provider of a deterministic system. Replicas that would be in other processes live in the
/// system itself, each behind a simulated link.
class simulated_slot_provider final : public slot_provider {
 public:
  using slot_provider::slot_provider;
  void allocate(const service_state& service, const replica_info& info, answer got) override;
  void close() override {}
};

}  // namespace troupe::detail
