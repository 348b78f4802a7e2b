#pragma once
// Which nodes are here, and which of them a replica goes to. Internal to runtime/.

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/cluster/node_info.hpp"
#include "runtime/metrics/registry.hpp"
#include "runtime/remote/site.hpp"

namespace troupe::detail {

class remote_context;

/// Places each replica on the node with the most free slots among those that its pattern names;
/// where none has any, the replica waits for one. What a lost node held is lost. Any thread; nobody
/// is told anything under its lock.
class node_register : public std::enable_shared_from_this<node_register> {
 public:
  explicit node_register(remote_context& system);

  /// A node that takes as many replicas as it has slots is here until `way` closes.
  void joined(const std::string& name, std::size_t slots, std::shared_ptr<link> way);
  /// A replica of that service waits for a place; `got` is told as `site::lodge` says.
  void wait(std::string service, std::size_t replica, std::string pattern, site::answer got);
  void close();
  /// By name.
  std::vector<node_info> list() const;
  /// `tell` is called, once, on any thread, when that many are here.
  void when_there_are(std::size_t nodes, std::function<void()> tell);

 private:
  class node_lodging;
  struct node {
    std::shared_ptr<connection> to;
    std::size_t slots = 0, replicas = 0;
  };
  struct wish {
    std::string service;
    std::size_t replica = 0;
    std::string pattern;
    site::answer got;
  };
  using grants = std::vector<std::pair<site::answer, std::shared_ptr<lodging>>>;

  void left(const std::string& name, const connection& to, const std::string& why);
  void give_back(const std::string& name, const connection& to);
  grants grant();
  static void tell(grants granted);

  remote_context& system_;
  metric_gauge here_;
  mutable std::mutex mutex_;
  bool closed_ = false;
  std::map<std::string, node> nodes_;
  std::list<wish> waiting_;  ///< In the order of coming.
  std::size_t awaited_ = 0;
  std::function<void()> tell_there_are_;
};

}  // namespace troupe::detail
