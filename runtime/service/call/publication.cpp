#include "runtime/service/call/publication.hpp"

#include <utility>

#include "runtime/base/error.hpp"
#include "runtime/service/state/service_state.hpp"

namespace troupe::detail {

supervisor_request::supervisor_request(std::shared_ptr<const service_state> service,
                                       const char* what,
                                       std::function<void(std::exception_ptr)> tell)
    : service_(std::move(service)), what_(what), tell_(std::move(tell)) {}

supervisor_request::~supervisor_request() {
  if (!tell_) return;
  answer(std::make_exception_ptr(
      call_error(error_kind::service_down, service_->options.name + ": " + what_ + ": " +
                                               service_->closed().value_or("it was stopped"))));
}

void supervisor_request::answer(std::exception_ptr error) {
  if (auto tell = std::exchange(tell_, nullptr)) tell(std::move(error));
}

}  // namespace troupe::detail
