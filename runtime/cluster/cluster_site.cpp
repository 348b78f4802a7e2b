#include "runtime/cluster/cluster_site.hpp"

#include "runtime/metrics/registry.hpp"
#include "runtime/remote/remote_context.hpp"

namespace troupe::detail {

cluster_site::cluster_site(remote_context& system, link_server_options options)
    : site(system), known_(std::make_shared<node_register>(system)) {
  options.metrics = &system.metrics();
  server_ = std::make_unique<link_server>(
      std::move(options), [known = known_](const hello& who, std::shared_ptr<link> way) {
        known->joined(who.name, static_cast<std::size_t>(who.slots), std::move(way));
      });
}

cluster_site::~cluster_site() { close(); }

void cluster_site::lodge(const service_state& service, const replica_info& info, answer got) {
  known_->wait(service.options.name, info.index, service.options.placement.pattern(),
               std::move(got));
}

void cluster_site::close() {
  known_->close();
  server_ = nullptr;
}

std::vector<node_info> cluster_site::nodes() const { return known_->list(); }
void cluster_site::when_there_are(std::size_t nodes, std::function<void()> tell) {
  known_->when_there_are(nodes, std::move(tell));
}

}  // namespace troupe::detail
