#pragma once
// Requests to the supervisor of a service. Internal to runtime/.

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>

#include "runtime/service/call/call.hpp"

namespace troupe::detail {

class service_state;

/// A request to a supervisor. It is answered once, at the latest when it is dropped because the
/// service has ended.
class supervisor_request {
 public:
  /// `what` names the request in errors. `tell` is called on any actor, with null or with the
  /// error.
  supervisor_request(std::shared_ptr<const service_state> service, const char* what,
                     std::function<void(std::exception_ptr)> tell);
  supervisor_request(const supervisor_request&) = delete;
  ~supervisor_request();
  void answer(std::exception_ptr error);

 private:
  std::shared_ptr<const service_state> service_;
  const char* what_;
  std::function<void(std::exception_ptr)> tell_;
};

/// A request to make a call at each replica, also at those that start later.
class publication : public supervisor_request {
 public:
  publication(std::shared_ptr<const service_state> service, ref<call_base> call,
              std::function<void(std::exception_ptr)> tell)
      : supervisor_request(std::move(service), "publish", std::move(tell)), call(std::move(call)) {}
  const ref<call_base> call;
  std::uint64_t number = 0;  ///< Publications are numbered in the order in which they came.
  std::exception_ptr error;  ///< What the endpoint threw in a replica.
  std::shared_ptr<const publication> before;  ///< What it has replaced; null once it is answered.
};

}  // namespace troupe::detail
