#pragma once

#include <memory>
#include <string>

#include "runtime/cluster/link_client.hpp"
#include "runtime/system/system.hpp"

namespace troupe::detail {

/// Makes a system's threads and memory those of a cluster: joins the controller, runs the roles
/// that it places here, and joins again when the way to it was lost; what ran here has ended then,
/// but for services that outlive their controller.
class node {
 public:
  /// Throws as link_client does.
  node(system& sys, link_client_options options);
  /// Leaves.
  ~node();
  node(const node&) = delete;

 private:
  struct residence;
  const std::shared_ptr<residence> residence_;
  std::unique_ptr<link_client> client_;
};

}  // namespace troupe::detail
