#pragma once
// The replicas that a node keeps after their controller is lost, for as long as their service says
// (serve_options::outlive_controller). Internal to runtime/.

#include <functional>
#include <string>
#include <vector>

#include "runtime/coroutine/sleep.hpp"
#include "runtime/coroutine/task_group.hpp"
#include "runtime/remote/exported_replica.hpp"
#include "runtime/remote/message.hpp"
#include "runtime/remote/remote_options.hpp"

namespace troupe::detail {

class peer;

/// Returns everything that a role is made from, except the number of restarts; empty if the role
/// may not outlive its controller. A controller that comes back sends the same.
std::string made_from(const message& make, remote_options about);

class orphaned_replicas {
 public:
  /// `forget` is called for each replica that has ended here.
  orphaned_replicas(peer& by, std::function<void(const exported_replica&)> forget)
      : by_(by), forget_(std::move(forget)) {}

  void keep(exported_replica replica);
  /// Returns the replica with this role specification, which serves another controller from now on.
  /// Its slot is null if there is none.
  exported_replica take(const std::string& role_spec);
  void on_down(const inbox& who);
  void end_all(const char* why);

 private:
  struct one {
    exported_replica replica;
    time_point until;
  };

  child_task end_late_ones(duration after);

  peer& by_;
  std::function<void(const exported_replica&)> forget_;
  std::vector<one> all_;
};

}  // namespace troupe::detail
