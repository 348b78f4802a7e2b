#include "runtime/cluster/node_register.hpp"

#include <algorithm>

#include "runtime/actor/timed_action.hpp"
#include "runtime/base/log.hpp"
#include "runtime/coroutine/sleep.hpp"
#include "runtime/remote/peer.hpp"
#include "runtime/remote/remote_context.hpp"
#include "runtime/remote/remote_metrics.hpp"
#include "runtime/service/options/placement.hpp"

namespace troupe::detail {

node_register::node_register(remote_context& system)
    : system_(system),
      here_(system.metrics().gauge("troupe_nodes", "Nodes that have joined and are here.")) {}

class node_register::node_slot final : public remote_slot {
 public:
  node_slot(std::shared_ptr<node_register> in, std::string name, std::shared_ptr<connection> to)
      : remote_slot(std::move(to)), in_(std::move(in)), name_(std::move(name)) {}
  ~node_slot() override { in_->give_back(name_, *to); }

 private:
  std::shared_ptr<node_register> in_;
  std::string name_;
};

void node_register::joined(const std::string& name, std::size_t slots, std::shared_ptr<link> way,
                           const std::string& process) {
  const auto to = std::make_shared<connection>(std::move(way));
  grants granted;
  std::vector<std::function<void()>> enough;
  {
    std::lock_guard lock(mutex_);
    if (closed_) return to->close("the controller is stopping");
    nodes_[name] = {to, slots, 0};
    here_.set(static_cast<double>(nodes_.size()));
    const auto last = awaited_.upper_bound(nodes_.size());
    for (auto each = awaited_.begin(); each != last; ++each)
      enough.push_back(std::move(each->second));
    awaited_.erase(awaited_.begin(), last);
    granted = grant();
  }
  // The metrics of a simulated node are counted in this process.
  if (!system_.deterministic()) system_.remote_metrics()->add(to, {"node", name}, process);
  log::info("a node has joined", {{"node", name}, {"slots", slots}});
  // The node is known before this, because the peer may report its end at once.
  start_peer(system_, to, peer::side::host,
             [me = weak_from_this(), counted = system_.remote_metrics(), name,
              to = to.get()](const std::string& why) {
               counted->remove(*to);
               if (const auto known = me.lock()) known->left(name, *to, why);
             });
  for (const auto& tell_each : enough) tell_each();
  tell(std::move(granted));
}

void node_register::left(const std::string& name, const connection& to, const std::string& why) {
  {
    std::lock_guard lock(mutex_);
    const auto place = nodes_.find(name);
    if (place == nodes_.end() || place->second.to.get() != &to) return;
    nodes_.erase(place);
    here_.set(static_cast<double>(nodes_.size()));
  }
  log::warn("a node has left", {{"node", name}, {"reason", why}});
}

void node_register::wait(std::string service, std::size_t replica, std::string pattern,
                         slot_provider::answer got) {
  grants granted;
  {
    std::lock_guard lock(mutex_);
    waiting_.push_back({service, replica, pattern, std::move(got)});
    granted = grant();
    if (granted.empty()) {
      log::info("a replica waits for a node with a free slot",
                {{"service", service}, {"replica", replica}, {"nodes", pattern}});
      if (!std::exchange(warns_, true)) warn_later();
    }
  }
  tell(std::move(granted));
}

void node_register::warn_later() {
  constexpr auto patience = std::chrono::seconds(5);
  const auto warn = [me = weak_from_this()] {
    if (const auto here = me.lock()) here->warn_of_waiting();
  };
  auto& clock = system_.clock();
  clock.wake_at(later(clock.now(), patience), ref<inbox>(new timed_action(warn)));
}

void node_register::warn_of_waiting() {
  std::lock_guard lock(mutex_);
  warns_ = false;
  std::map<std::pair<std::string, std::string>, std::size_t> waiting;
  for (const auto& request : waiting_) ++waiting[{request.service, request.pattern}];
  for (const auto& [of, replicas] : waiting) {
    const auto& [service, pattern] = of;
    std::size_t fitting = 0, slots = 0, taken = 0;
    for (const auto& [name, n] : nodes_) {
      if (!name_fits(name, pattern)) continue;
      ++fitting;
      slots += n.slots;
      taken += n.replicas;
    }
    log::warn("replicas wait for nodes that join or have more --slots", {{"service", service},
                                                                         {"waiting", replicas},
                                                                         {"nodes", pattern},
                                                                         {"joined", fitting},
                                                                         {"slots", slots},
                                                                         {"taken", taken}});
  }
}

void node_register::give_back(const std::string& name, const connection& to) {
  grants granted;
  {
    std::lock_guard lock(mutex_);
    const auto place = nodes_.find(name);
    if (place == nodes_.end() || place->second.to.get() != &to) return;
    --place->second.replicas;
    granted = grant();
  }
  tell(std::move(granted));
}

/// Requires mutex_. A node whose link has closed may still be listed.
node_register::grants node_register::grant() {
  grants granted;
  const auto free_of = [](const node& n) { return n.slots - std::min(n.slots, n.replicas); };
  for (auto request = waiting_.begin(); request != waiting_.end();) {
    auto best = nodes_.end();
    for (auto n = nodes_.begin(); n != nodes_.end(); ++n) {
      if (!name_fits(n->first, request->pattern) || free_of(n->second) == 0) continue;
      if (n->second.to->is_closed()) continue;
      if (best == nodes_.end() || free_of(n->second) > free_of(best->second)) best = n;
    }
    if (best == nodes_.end()) {
      ++request;
      continue;
    }
    ++best->second.replicas;
    log::info(
        "a replica is placed on a node",
        {{"service", request->service}, {"replica", request->replica}, {"node", best->first}});
    granted.emplace_back(
        std::move(request->got),
        std::make_shared<node_slot>(shared_from_this(), best->first, best->second.to));
    request = waiting_.erase(request);
  }
  return granted;
}

void node_register::tell(grants granted) {
  for (auto& [got, place] : granted) got(std::move(place), nullptr);
}

void node_register::close() {
  std::list<slot_request> waiting;
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
    waiting.swap(waiting_);
    awaited_.clear();
    nodes_.clear();
  }
  const auto why = std::make_exception_ptr(std::runtime_error("the system is stopping"));
  for (auto& w : waiting) w.got(nullptr, why);
}

std::vector<node_info> node_register::list() const {
  std::lock_guard lock(mutex_);
  std::vector<node_info> all;
  for (const auto& [name, n] : nodes_) all.push_back({name, n.slots, n.replicas});
  return all;
}

void node_register::when_there_are(std::size_t nodes, std::function<void()> tell) {
  {
    std::lock_guard lock(mutex_);
    if (nodes_.size() < nodes && !closed_) {
      awaited_.emplace(nodes, std::move(tell));
      return;
    }
  }
  tell();
}

}  // namespace troupe::detail
