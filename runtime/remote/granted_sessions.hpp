#pragma once
// The sessions of this process's services that the other side of a connection waits for or holds.
// They end when the connection ends for any reason. Internal to runtime/.

#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <string>

#include "runtime/coroutine/task_group.hpp"
#include "runtime/remote/message.hpp"
#include "runtime/service/state/service_state.hpp"

namespace troupe::detail {

class peer;
class session_lease;

class granted_sessions {
 public:
  explicit granted_sessions(peer& by) : by_(by) {}

  // These handle the other side's requests. They throw wire_error for a request that it may not
  // make.
  void open(const message& m);
  void release(std::uint64_t id);

  /// Drops all sessions, because the peer and its coroutines have ended.
  void end_all();

 private:
  /// The largest number of sessions that the other side may hold or wait for; a further one ends as
  /// overloaded.
  static constexpr std::size_t sessions_max = 65'536;

  child_task answer(std::uint64_t id, std::shared_ptr<service_state> service, call_options how,
                    session_options options);
  void refuse(std::uint64_t id, const std::exception_ptr& error);

  peer& by_;
  std::map<std::uint64_t, child_task*> waiting_;  ///< Keyed by the id of the `open` message.
  /// Keyed by the id of the `open` message.
  std::map<std::uint64_t, std::shared_ptr<session_lease>> held_;
};

}  // namespace troupe::detail
