#include "runtime/cluster/cluster_slot_provider.hpp"

#include "runtime/metrics/registry.hpp"
#include "runtime/remote/remote_context.hpp"

namespace troupe::detail {

cluster_slot_provider::cluster_slot_provider(remote_context& system, link_server_options options)
    : slot_provider(system), known_(std::make_shared<node_register>(system)) {
  options.metrics = &system.metrics();
  server_ = std::make_unique<link_server>(
      std::move(options), [known = known_](const hello& who, std::shared_ptr<link> way) {
        known->joined(who.name, static_cast<std::size_t>(who.slots), std::move(way),
                      to_string(who.self));
      });
}

cluster_slot_provider::~cluster_slot_provider() { close(); }

void cluster_slot_provider::allocate(const service_state& service, const replica_info& info,
                                     answer got) {
  known_->wait(service.options.name, info.index, service.options.placement.pattern(),
               std::move(got));
}

void cluster_slot_provider::close() {
  known_->close();
  server_ = nullptr;
}

std::vector<node_info> cluster_slot_provider::nodes() const { return known_->list(); }
void cluster_slot_provider::when_there_are(std::size_t nodes, std::function<void()> tell) {
  known_->when_there_are(nodes, std::move(tell));
}

}  // namespace troupe::detail
