#pragma once
// The provider of places on nodes that have joined over the network. Internal to runtime/.

#include <memory>
#include <vector>

#include "runtime/cluster/link_server.hpp"
#include "runtime/cluster/node_register.hpp"
#include "runtime/remote/slot_provider.hpp"

namespace troupe::detail {

/// Runs replicas on the nodes that have joined. The node_register chooses a replica's node.
class cluster_slot_provider final : public slot_provider {
 public:
  /// Listens for nodes. Throws as link_server does.
  cluster_slot_provider(remote_context& system, link_server_options options);
  ~cluster_slot_provider() override;

  void allocate(const service_state& service, const replica_info& info, answer got) override;
  void close() override;

  std::uint16_t port() const { return server_->port(); }
  /// The nodes that have joined, ordered by name.
  std::vector<node_info> nodes() const;
  /// Calls `tell` once, on any thread, when that many nodes have joined.
  void when_there_are(std::size_t nodes, std::function<void()> tell);

 private:
  std::shared_ptr<node_register> known_;
  std::unique_ptr<link_server> server_;
};

}  // namespace troupe::detail
