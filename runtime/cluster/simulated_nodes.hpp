#pragma once
// The nodes of a deterministic system.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/actor/simulated_threads.hpp"
#include "runtime/cluster/node_register.hpp"
#include "runtime/remote/simulated_link.hpp"

namespace troupe::detail {

/// Each is a simulated process behind a simulated link, and has a thread for each of its slots:
/// where all are busy, only its porter has turns. In turns of actors of the controller's.
class simulated_nodes final : public site {
 public:
  explicit simulated_nodes(remote_context& system);

  /// A node joins under a name that is free.
  void join(const std::string& name, std::size_t slots);
  /// Its process dies, as the controller hears at once.
  void kill(const std::string& name);
  /// Its link carries nothing for that long. What it holds up comes then, but from
  /// simulated_link::silence_limit on both sides take each other for lost, and the node joins again
  /// afterwards.
  void cut(const std::string& name, duration time);

  /// By name, as the controller knows them.
  std::vector<node_info> list() const { return known_->list(); }

  void lodge(const service_state& service, const replica_info& info, answer got) override;
  void close() override;

 private:
  struct node {
    std::size_t slots = 0;
    std::shared_ptr<simulated_pool> threads;
    std::shared_ptr<simulated_link> way;
    ref<inbox> porter;
    time_point reached_again{};
  };

  void connect(const std::string& name, node& to);
  void lost(const std::string& name, const simulated_pool* threads);
  void join_again(const std::string& name, const std::shared_ptr<simulated_pool>& threads);

  std::shared_ptr<node_register> known_;
  std::map<std::string, node> nodes_;  ///< Those whose processes live.
};

}  // namespace troupe::detail
