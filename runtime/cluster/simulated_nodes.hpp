#pragma once
// The simulated nodes of a deterministic system. Internal to runtime/.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/actor/simulated_threads.hpp"
#include "runtime/cluster/node_register.hpp"
#include "runtime/remote/simulated_link.hpp"

namespace troupe::detail {

/// Each node is a simulated process behind a simulated link, and has a thread for each of its
/// slots. If all of them are busy, only its peer has turns. Used in turns of the controller's
/// actors.
class simulated_nodes final : public slot_provider {
 public:
  explicit simulated_nodes(remote_context& system);

  /// Lets a node join. Its name must be free.
  void join(const std::string& name, std::size_t slots);
  /// Ends a node's process. The controller is told at once.
  void kill(const std::string& name);
  /// Blocks what passes a node's link that way, seen from the node, for that long. Delayed messages
  /// come afterwards. If the time is at least simulated_link::silence_limit, the sides lose each
  /// other, and the node joins again afterwards.
  void cut(const std::string& name, duration time,
           simulated_link::way which = simulated_link::way::both);
  /// Ends every link at once, as the end of the controller's process does. The nodes join again.
  void lose_controller();

  /// The nodes that the controller knows, ordered by name.
  std::vector<node_info> list() const { return known_->list(); }

  void allocate(const service_state& service, const replica_info& info, answer got) override;
  void close() override;

 private:
  struct node {
    std::size_t slots = 0;
    std::shared_ptr<simulated_pool> threads;
    std::shared_ptr<simulated_link> way;
    ref<inbox> peer;
    time_point reached_again{};
  };

  void connect(const std::string& name, node& to);
  void lost(const std::string& name, const simulated_pool* threads);
  void join_again(const std::string& name, const std::shared_ptr<simulated_pool>& threads);

  std::shared_ptr<node_register> known_;
  std::map<std::string, node> nodes_;  ///< The nodes whose processes are alive.
};

}  // namespace troupe::detail
