#include "runtime/cluster/simulated_nodes.hpp"

#include <algorithm>
#include <stdexcept>

#include "runtime/actor/timed_action.hpp"
#include "runtime/remote/peer.hpp"
#include "runtime/remote/remote_context.hpp"

namespace troupe::detail {

namespace {

/// The time between the end of a node's link and its next attempt to join.
constexpr auto before_joining_again = std::chrono::seconds(1);

peer& here() { return static_cast<peer&>(static_cast<host&>(strand::current())); }

}  // namespace

simulated_nodes::simulated_nodes(remote_context& system)
    : slot_provider(system), known_(std::make_shared<node_register>(system)) {}

void simulated_nodes::join(const std::string& name, std::size_t slots) {
  if (nodes_.contains(name)) {
    throw std::invalid_argument("simulated node \"" + name + "\": it has joined already");
  }
  auto& n = nodes_[name];
  n.slots = slots;
  n.threads = std::make_shared<simulated_pool>(slots);
  connect(name, n);
}

void simulated_nodes::connect(const std::string& name, node& to) {
  const auto [mine, theirs] = simulated_link::make(system_);
  to.way = theirs;
  const auto there = std::make_shared<connection>(theirs);
  if (to.peer) {
    to.peer->post([there] { here().join(there); });
  } else {
    const simulated_threads::scope inside(*system_.threads_in_virtual_time(), to.threads);
    to.peer = start_peer(
        system_, there, peer::side::resident,
        [this, name, threads = to.threads.get()](const std::string&) { lost(name, threads); });
  }
  known_->joined(name, to.slots, mine);
}

void simulated_nodes::kill(const std::string& name) {
  const auto place = nodes_.find(name);
  if (place == nodes_.end()) return;
  place->second.peer->kill("its process dies");
  nodes_.erase(place);
}

void simulated_nodes::lose_controller() {
  for (const auto& [name, n] : nodes_) n.way->close("the controller has ended");
}

void simulated_nodes::cut(const std::string& name, duration time, simulated_link::way which) {
  const auto place = nodes_.find(name);
  if (place == nodes_.end()) return;
  auto& n = place->second;
  n.reached_again = std::max(n.reached_again, later(system_.clock().now(), time));
  if (time < simulated_link::silence_limit) {
    n.way->stall(time, which);
  } else {
    n.way->cut(which);
  }
}

/// Called in the node's peer.
void simulated_nodes::lost(const std::string& name, const simulated_pool* threads) {
  const auto place = nodes_.find(name);
  if (place == nodes_.end() || place->second.threads.get() != threads) return;
  auto& clock = system_.clock();
  const auto again =
      std::max(place->second.reached_again, later(clock.now(), before_joining_again));
  clock.wake_at(again, ref<inbox>(new timed_action(
                           [this, name, who = place->second.threads] { join_again(name, who); })));
}

void simulated_nodes::join_again(const std::string& name,
                                 const std::shared_ptr<simulated_pool>& threads) {
  const auto place = nodes_.find(name);
  if (place != nodes_.end() && place->second.threads == threads) connect(name, place->second);
}

void simulated_nodes::allocate(const service_state& service, const replica_info& info, answer got) {
  known_->wait(service.options.name, info.index, service.options.placement.pattern(),
               std::move(got));
}

void simulated_nodes::close() {
  known_->close();
  for (const auto& [name, n] : std::exchange(nodes_, {})) n.peer->kill("the system is stopping");
}

}  // namespace troupe::detail
