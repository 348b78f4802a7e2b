#pragma once
// Replicas that a node goes on with after their controller is lost, for as long as their service
// says. Internal to runtime/.

#include <functional>
#include <string>
#include <vector>

#include "runtime/coroutine/crew.hpp"
#include "runtime/coroutine/sleep.hpp"
#include "runtime/remote/exported_replica.hpp"
#include "runtime/remote/message.hpp"
#include "runtime/remote/remote_options.hpp"

namespace troupe::detail {

class porter;

/// What a role is made from, but for the restarts before; empty where it may not outlive its
/// controller. A controller that comes back asks for the same.
std::string made_from(const message& make, remote_options about);

class outliving {
 public:
  /// `forget` is told of each that has ended here.
  outliving(porter& by, std::function<void(const exported_replica&)> forget)
      : by_(by), forget_(std::move(forget)) {}

  void keep(exported_replica replica);
  /// The one of that recipe, which serves another controller from here on; without a slot if there
  /// is none.
  exported_replica take(const std::string& recipe);
  void on_down(const inbox& who);
  void end_all(const char* why);

 private:
  struct one {
    exported_replica replica;
    time_point until;
  };

  branch end_late_ones(duration after);

  porter& by_;
  std::function<void(const exported_replica&)> forget_;
  std::vector<one> all_;
};

}  // namespace troupe::detail
