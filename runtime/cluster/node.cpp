#include "runtime/cluster/node.hpp"

#include <thread>

#include "runtime/log.hpp"
#include "runtime/remote/porter.hpp"
#include "runtime/system_core.hpp"

namespace troupe::detail {

node::node(system& sys, link_client_options options) {
  const auto address = options.address;
  options.metrics = &sys.metrics();
  if (options.slots == 0) options.slots = static_cast<int>(std::thread::hardware_concurrency());
  client_ = std::make_unique<link_client>(
      std::move(options),
      link_client_events{
          .joined =
              [&sys, address](const hello& controller, std::shared_ptr<link> way) {
                log::info("joined", {{"controller", controller.name}, {"address", address}});
                start_porter(core_of(sys), std::make_shared<connection>(std::move(way)),
                             porter::side::guest, [](const std::string& why) {
                               log::warn("the controller is lost", {{"reason", why}});
                             });
              },
          .failed =
              [address](const std::string& why, bool refused) {
                if (refused) {
                  log::error("the controller refuses this node",
                             {{"address", address}, {"reason", why}});
                } else {
                  log::info("the controller is not there yet",
                            {{"address", address}, {"reason", why}});
                }
              }});
}

node::~node() = default;

}  // namespace troupe::detail
