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
  /// The number in the supervisor's list; who has it has this publication, or what replaced it.
  std::uint64_t number = 0;
  std::exception_ptr error;  ///< What the endpoint threw in a replica; null unless it has failed.
  /// What it has replaced and replicas get again if it fails; null once it is answered.
  std::shared_ptr<publication> before;
};

}  // namespace troupe::detail
