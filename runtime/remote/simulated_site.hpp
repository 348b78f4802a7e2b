#pragma once

#include "runtime/remote/site.hpp"

namespace troupe::detail {

class system_core;

/// The site of a deterministic system. Replicas that would be in other processes live in the system
/// itself, each behind a simulated link.
class simulated_site final : public site {
 public:
  explicit simulated_site(system_core& system) : system_(system) {}
  void lodge(const service_state& service, const replica_info& info, answer got) override;
  void close() override {}

 private:
  system_core& system_;
};

}  // namespace troupe::detail
