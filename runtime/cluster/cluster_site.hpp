#pragma once
// Replicas on machines that have joined.

#include <memory>
#include <vector>

#include "runtime/cluster/link_server.hpp"
#include "runtime/cluster/node_register.hpp"
#include "runtime/remote/site.hpp"

namespace troupe::detail {

/// Those that have joined over the network; see node_register for which of them a replica goes to.
class cluster_site final : public site {
 public:
  /// Listens. Throws as link_server does.
  cluster_site(remote_context& system, link_server_options options);
  ~cluster_site() override;

  void lodge(const service_state& service, const replica_info& info, answer got) override;
  void close() override;

  std::uint16_t port() const { return server_->port(); }
  /// By name.
  std::vector<node_info> nodes() const;
  /// `tell` is called, once, on any thread, when that many are here.
  void when_there_are(std::size_t nodes, std::function<void()> tell);

 private:
  std::shared_ptr<node_register> known_;
  std::unique_ptr<link_server> server_;
};

}  // namespace troupe::detail
