#include "runtime/cluster/node.hpp"

#include <mutex>
#include <thread>
#include <utility>

#include "runtime/log.hpp"
#include "runtime/remote/porter.hpp"
#include "runtime/system_core.hpp"

namespace troupe::detail {

/// Who serves the controller, through all its links.
struct node::residence {
  std::mutex mutex;
  ref<inbox> porter;
};

namespace {

porter& here() { return static_cast<porter&>(static_cast<host&>(strand::current())); }

}  // namespace

node::node(system& sys, link_client_options options) : residence_(std::make_shared<residence>()) {
  const auto address = options.address;
  options.metrics = &sys.metrics();
  if (options.slots == 0) options.slots = static_cast<int>(std::thread::hardware_concurrency());
  client_ = std::make_unique<link_client>(
      std::move(options),
      link_client_events{
          .joined =
              [&sys, address, in = residence_](const hello& controller, std::shared_ptr<link> way) {
                log::info("joined", {{"controller", controller.name}, {"address", address}});
                const auto to = std::make_shared<connection>(std::move(way));
                const std::lock_guard lock(in->mutex);
                if (in->porter) return in->porter->post([to] { here().join(to); });
                in->porter = start_porter(core_of(sys), to, porter::side::resident,
                                          [](const std::string& why) {
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

node::~node() {
  client_ = nullptr;
  const std::lock_guard lock(residence_->mutex);
  // The porter holds its last link, and that who made it, the residence among it.
  if (const auto porter = std::exchange(residence_->porter, nullptr))
    porter->post([] { here().leave(); });
}

}  // namespace troupe::detail
