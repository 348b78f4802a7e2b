#include "runtime/system/node.hpp"

#include <mutex>
#include <utility>

#include "runtime/base/log.hpp"
#include "runtime/base/usable_cores.hpp"
#include "runtime/remote/peer.hpp"
#include "runtime/system/system_core.hpp"

namespace troupe::detail {

/// The state that serves the controller through all its links.
struct node::membership {
  std::mutex mutex;
  ref<inbox> peer;
  std::string told;  ///< The reason for having no controller that was logged last.
};

namespace {

peer& here() { return static_cast<peer&>(static_cast<host&>(strand::current())); }

/// Adds the meaning of a cause if the words of the socket or of TLS don't say it.
std::string explained(const std::string& cause) {
  const auto says = [&](const char* words) { return cause.find(words) != std::string::npos; };
  if (says("Connection reset") || says("closed the connection") || says("no TLS"))
    return cause + "; one side may have certificates and the other none, or refuse the other's";
  return cause;
}

}  // namespace

node::node(system& sys, link_client_options options) : membership_(std::make_shared<membership>()) {
  const auto address = options.address;
  options.metrics = &sys.metrics();
  if (options.slots == 0) options.slots = static_cast<int>(usable_cores());
  client_ = std::make_unique<link_client>(
      std::move(options),
      link_client_events{
          .joined =
              [&sys, address, in = membership_](const hello& controller,
                                                std::shared_ptr<link> way) {
                log::info("the node has joined the controller",
                          {{"controller", controller.name}, {"address", address}});
                const auto to = std::make_shared<connection>(std::move(way));
                const std::lock_guard lock(in->mutex);
                in->told.clear();
                if (in->peer) return in->peer->post([to] { here().join(to); });
                in->peer =
                    start_peer(core_of(sys), to, peer::side::resident, [](const std::string& why) {
                      log::warn("the controller is lost; this node waits for it or its successor",
                                {{"reason", why}});
                    });
              },
          .failed =
              [address, in = membership_](const std::string& why, bool refused) {
                if (refused) {
                  return log::error("this node can't join the controller",
                                    {{"address", address}, {"reason", why}});
                }
                log::debug("a controller was not reached", {{"reason", why}});
                const std::lock_guard lock(in->mutex);
                if (why == in->told) return;
                log::info("no controller takes this node; it asks again until one does",
                          {{"address", address}, {"reason", explained(why)}});
                in->told = why;
              }});
}

node::~node() {
  client_ = nullptr;
  const std::lock_guard lock(membership_->mutex);
  // The peer holds its last link, and the link holds its maker, which holds the membership.
  if (const auto peer = std::exchange(membership_->peer, nullptr))
    peer->post([] { here().leave(); });
}

}  // namespace troupe::detail
