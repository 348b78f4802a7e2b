#pragma once
// The sessions of this process's services that the other side of a connection waits for or holds.
// Whatever ends the connection ends them. Internal to runtime/.

#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <string>

#include "runtime/coroutine/crew.hpp"
#include "runtime/remote/message.hpp"
#include "runtime/service/state/service_state.hpp"

namespace troupe::detail {

class porter;
class session_lease;

class granted_sessions {
 public:
  explicit granted_sessions(porter& by) : by_(by) {}

  // What the other side asks. Throw wire_error where it may not.
  void open(const message& m);
  void release(std::uint64_t id);

  /// The porter has ended, and its coroutines with it.
  void end_all();

 private:
  /// Sessions that the other side may hold or wait for; one more ends as overloaded.
  static constexpr std::size_t sessions_max = 65'536;

  branch answer(std::uint64_t id, std::shared_ptr<service_state> service, call_options how,
                session_options options);
  void refuse(std::uint64_t id, const std::exception_ptr& error);

  porter& by_;
  std::map<std::uint64_t, branch*> waiting_;                      ///< By the numbers of `open`.
  std::map<std::uint64_t, std::shared_ptr<session_lease>> held_;  ///< The same.
};

}  // namespace troupe::detail
