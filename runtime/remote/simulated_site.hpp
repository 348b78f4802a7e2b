#pragma once

#include "runtime/remote/site.hpp"

namespace troupe::detail {

/// The site of a deterministic system. Replicas that would be in other processes live in the system
/// itself, each behind a simulated link.
class simulated_site final : public site {
 public:
  using site::site;
  void lodge(const service_state& service, const replica_info& info, answer got) override;
  void close() override {}
};

}  // namespace troupe::detail
