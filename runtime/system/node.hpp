#pragma once

#include <memory>
#include <string>

#include "runtime/cluster/link_client.hpp"
#include "runtime/system/system.hpp"

namespace troupe::detail {

/// Makes the system a node of a cluster. It joins the controller, runs the replicas that the
/// controller places here, and joins again when the connection is lost. The replicas end with the
/// connection, unless their service outlives its controller.
class node {
 public:
  /// Throws as link_client does.
  node(system& sys, link_client_options options);
  /// Leaves the cluster.
  ~node();
  node(const node&) = delete;

 private:
  struct membership;
  const std::shared_ptr<membership> membership_;
  std::unique_ptr<link_client> client_;
};

}  // namespace troupe::detail
