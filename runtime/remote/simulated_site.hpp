#pragma once

#include "runtime/remote/site.hpp"

namespace troupe::detail {

/// Of a deterministic system: replicas elsewhere live in the system itself, behind a simulated link
/// each.
class simulated_site final : public site {
 public:
  using site::site;
  void lodge(const service_state& service, const replica_info& info, answer got) override;
  void close() override {}
};

}  // namespace troupe::detail
