#pragma once
// The nodes that have joined, and the choice of a node for each replica. Internal to runtime/.

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/cluster/node_info.hpp"
#include "runtime/metrics/registry.hpp"
#include "runtime/remote/slot_provider.hpp"

namespace troupe::detail {

class remote_context;

/// Places each replica on the node with the most free slots among those whose names match its
/// pattern. If none has a free slot, the replica waits for one. The replicas on a lost node are
/// lost. May be used on any thread; callbacks are called without the lock.
class node_register : public std::enable_shared_from_this<node_register> {
 public:
  explicit node_register(remote_context& system);

  /// Adds a node that takes `slots` replicas. It is removed when `way` closes. `process` is a name
  /// that only this process of the node has, with which it comes back.
  void joined(const std::string& name, std::size_t slots, std::shared_ptr<link> way,
              const std::string& process = "");
  /// Queues a replica of that service for a place. `got` is called as for
  /// `slot_provider::allocate`.
  void wait(std::string service, std::size_t replica, std::string pattern,
            slot_provider::answer got);
  void close();
  /// The nodes that have joined, ordered by name.
  std::vector<node_info> list() const;
  /// Calls `tell` once, on any thread, when that many nodes have joined.
  void when_there_are(std::size_t nodes, std::function<void()> tell);

 private:
  class node_slot;
  struct node {
    std::shared_ptr<connection> to;
    std::size_t slots = 0, replicas = 0;
  };
  struct slot_request {
    std::string service;
    std::size_t replica = 0;
    std::string pattern;
    slot_provider::answer got;
  };
  using grants = std::vector<std::pair<slot_provider::answer, std::shared_ptr<remote_slot>>>;

  void left(const std::string& name, const connection& to, const std::string& why);
  void give_back(const std::string& name, const connection& to);
  grants grant();
  static void tell(grants granted);
  void warn_later();
  void warn_of_waiting();

  remote_context& system_;
  metric_gauge here_;
  mutable std::mutex mutex_;
  bool closed_ = false;
  std::map<std::string, node> nodes_;
  std::list<slot_request> waiting_;  ///< The replicas that wait, in the order of arrival.
  bool warns_ = false;               ///< True while the clock is set to warn of them.
  /// Who waits for nodes, by how many there must be.
  std::multimap<std::size_t, std::function<void()>> awaited_;
};

}  // namespace troupe::detail
