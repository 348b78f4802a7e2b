#include "runtime/cluster/cluster_site.hpp"

#include <algorithm>
#include <list>
#include <map>
#include <mutex>

#include "runtime/log.hpp"
#include "runtime/metrics/registry.hpp"
#include "runtime/remote/porter.hpp"
#include "runtime/remote/remote_metrics.hpp"
#include "runtime/service/placement.hpp"
#include "runtime/system_core.hpp"

namespace troupe::detail {

/// Who is here, and who waits for a place. Any thread; nobody is told anything under its lock.
class cluster_site::register_of_nodes
    : public std::enable_shared_from_this<cluster_site::register_of_nodes> {
 public:
  explicit register_of_nodes(system_core& system)
      : system_(system),
        here_(system.metrics().gauge("troupe_nodes", "Nodes that have joined and are here.")) {}

  void joined(const hello& who, std::shared_ptr<link> way);
  void left(const std::string& name, const connection& to, const std::string& why);
  void wait(std::string service, std::size_t replica, std::string pattern, answer got);
  void give_back(const std::string& name, const connection& to);
  void close();
  std::vector<node_info> list() const;
  void when_there_are(std::size_t nodes, std::function<void()> tell);

 private:
  struct node {
    std::shared_ptr<connection> to;
    std::size_t slots = 0, replicas = 0;
  };
  struct wish {
    std::string service;
    std::size_t replica = 0;
    std::string pattern;
    answer got;
  };
  using grants = std::vector<std::pair<answer, std::shared_ptr<lodging>>>;

  grants grant();
  static void tell(grants granted);

  system_core& system_;
  metric_gauge here_;
  mutable std::mutex mutex_;
  bool closed_ = false;
  std::map<std::string, node> nodes_;
  std::list<wish> waiting_;  ///< In the order of coming.
  std::size_t awaited_ = 0;
  std::function<void()> tell_there_are_;
};

class cluster_site::node_lodging final : public lodging {
 public:
  node_lodging(std::shared_ptr<register_of_nodes> in, std::string name,
               std::shared_ptr<connection> to)
      : lodging(std::move(to)), in_(std::move(in)), name_(std::move(name)) {}
  ~node_lodging() override { in_->give_back(name_, *to); }

 private:
  std::shared_ptr<register_of_nodes> in_;
  std::string name_;
};

void cluster_site::register_of_nodes::joined(const hello& who, std::shared_ptr<link> way) {
  const auto to = std::make_shared<connection>(std::move(way));
  grants granted;
  std::function<void()> enough;
  {
    std::lock_guard lock(mutex_);
    if (closed_) return to->close("the controller is stopping");
    nodes_[who.name] = {to, static_cast<std::size_t>(who.slots), 0};
    here_.set(static_cast<double>(nodes_.size()));
    if (tell_there_are_ && nodes_.size() >= awaited_) {
      enough = std::exchange(tell_there_are_, nullptr);
    }
    granted = grant();
  }
  system_.remote_metrics()->add(to, {"node", who.name}, remote_metrics::after_its_end::go);
  log::info("a node has joined", {{"node", who.name}, {"slots", who.slots}});
  // After it is known: the porter may tell of its end at once.
  start_porter(system_, to, porter::side::host,
               [me = weak_from_this(), counted = system_.remote_metrics(), name = who.name,
                to = to.get()](const std::string& why) {
                 counted->remove(*to);
                 if (const auto known = me.lock()) known->left(name, *to, why);
               });
  if (enough) enough();
  tell(std::move(granted));
}

void cluster_site::register_of_nodes::left(const std::string& name, const connection& to,
                                           const std::string& why) {
  {
    std::lock_guard lock(mutex_);
    const auto place = nodes_.find(name);
    if (place == nodes_.end() || place->second.to.get() != &to) return;
    nodes_.erase(place);
    here_.set(static_cast<double>(nodes_.size()));
  }
  log::warn("a node has left", {{"node", name}, {"reason", why}});
}

void cluster_site::register_of_nodes::wait(std::string service, std::size_t replica,
                                           std::string pattern, answer got) {
  grants granted;
  {
    std::lock_guard lock(mutex_);
    waiting_.push_back({service, replica, pattern, std::move(got)});
    granted = grant();
    if (granted.empty()) {
      log::info("a replica waits for a node with a free slot",
                {{"service", service}, {"replica", replica}, {"nodes", pattern}});
    }
  }
  tell(std::move(granted));
}

void cluster_site::register_of_nodes::give_back(const std::string& name, const connection& to) {
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

/// The lock is held. A node whose link has closed may not have left yet.
cluster_site::register_of_nodes::grants cluster_site::register_of_nodes::grant() {
  grants granted;
  const auto free_of = [](const node& n) { return n.slots - std::min(n.slots, n.replicas); };
  for (auto wish = waiting_.begin(); wish != waiting_.end();) {
    auto best = nodes_.end();
    for (auto n = nodes_.begin(); n != nodes_.end(); ++n) {
      if (!name_fits(n->first, wish->pattern) || free_of(n->second) == 0) continue;
      if (n->second.to->is_closed()) continue;
      if (best == nodes_.end() || free_of(n->second) > free_of(best->second)) best = n;
    }
    if (best == nodes_.end()) {
      ++wish;
      continue;
    }
    ++best->second.replicas;
    log::info("a replica is placed on a node",
              {{"service", wish->service}, {"replica", wish->replica}, {"node", best->first}});
    granted.emplace_back(
        std::move(wish->got),
        std::make_shared<node_lodging>(shared_from_this(), best->first, best->second.to));
    wish = waiting_.erase(wish);
  }
  return granted;
}

void cluster_site::register_of_nodes::tell(grants granted) {
  for (auto& [got, place] : granted) got(std::move(place), nullptr);
}

void cluster_site::register_of_nodes::close() {
  std::list<wish> waiting;
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
    waiting.swap(waiting_);
    tell_there_are_ = nullptr;
    nodes_.clear();
  }
  const auto why = std::make_exception_ptr(std::runtime_error("the system is stopping"));
  for (auto& w : waiting) w.got(nullptr, why);
}

std::vector<node_info> cluster_site::register_of_nodes::list() const {
  std::lock_guard lock(mutex_);
  std::vector<node_info> all;
  for (const auto& [name, n] : nodes_) all.push_back({name, n.slots, n.replicas});
  return all;
}

void cluster_site::register_of_nodes::when_there_are(std::size_t nodes,
                                                     std::function<void()> tell) {
  {
    std::lock_guard lock(mutex_);
    if (nodes_.size() < nodes && !closed_) {
      awaited_ = nodes;
      tell_there_are_ = std::move(tell);
      return;
    }
  }
  tell();
}

cluster_site::cluster_site(system_core& system, link_server_options options)
    : known_(std::make_shared<register_of_nodes>(system)) {
  options.metrics = &system.metrics();
  server_ = std::make_unique<link_server>(
      std::move(options), [known = known_](const hello& who, std::shared_ptr<link> way) {
        known->joined(who, std::move(way));
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
