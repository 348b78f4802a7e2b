#pragma once
// The calls that a peer makes on behalf of the other side of its connection. Internal to
// runtime/.

#include <map>
#include <memory>

#include "runtime/coroutine/task_group.hpp"
#include "runtime/remote/message.hpp"
#include "runtime/service/role/role.hpp"
#include "runtime/service/state/service_state.hpp"

namespace troupe::detail {

class peer;

class forwarded_calls {
 public:
  explicit forwarded_calls(peer& by) : by_(by) {}

  /// Calls a replica, and sends the result or error as the answer to `asked`.
  void start(const message_header& asked, std::shared_ptr<service_state> service,
             std::shared_ptr<replica_slot> slot, ref<call_base> call);
  /// Answers `asked` with an error at once.
  void refuse(const message_header& asked, const std::exception_ptr& error);

  void cancel(const message_header& asked);
  void cancel_all();
  /// Forgets all calls. Nothing more is sent, and the coroutines end with their actor.
  void forget_all() { running_.clear(); }
  std::size_t running() const { return running_.size(); }
  /// Throws wire_error if a call with that replica and id is under way.
  void check_number(const message_header& asked) const;
  /// True if a call of that replica is under way.
  bool any_of(std::uint32_t replica) const;
  /// Returns the ids of the replica's calls that are under way.
  std::map<const call_base*, std::uint64_t> ids_of(std::uint32_t replica) const;

 private:
  child_task forward_call(message_header reply, std::shared_ptr<service_state> service,
                          std::shared_ptr<replica_slot> slot, call_options options,
                          ref<call_base> call);
  void send_result(message_header header, call_base& call);
  void send_error(message_header header, ending how, const std::exception_ptr& error);

  struct forwarding {
    child_task* coroutine = nullptr;
    const call_base* call = nullptr;
  };

  peer& by_;
  /// Keyed by replica and id.
  std::map<std::pair<std::uint32_t, std::uint64_t>, forwarding> running_;
};

}  // namespace troupe::detail
