#include "runtime/service/service.hpp"

namespace troupe::detail {

task<std::shared_ptr<session_lease>> open_session(std::shared_ptr<service_state> service,
                                                  call_options options) {
  if (!service) throw std::logic_error("a service handle that names no service was called");
  auto& calls = caller::current();
  const auto limit = options.deadline == duration(0) ? service->options.deadline : options.deadline;
  const auto give_up_at = limit == no_limit ? time_point::max() : calls.home().now() + limit;
  for (;;) {
    auto& view = calls.view(*service);
    if (auto slot = calls.for_session(view)) {
      co_return std::make_shared<session_lease>(std::move(slot));
    }
    if (const auto reason = service->closed()) {
      throw call_error(error_kind::service_down, service->options.name + ": " + *reason);
    }
    if (!options.wait) {
      throw call_error(error_kind::overloaded, service->options.name + ": no replica is ready");
    }
    if (calls.home().now() >= give_up_at) {
      throw call_error(
          error_kind::deadline_exceeded,
          service->options.name + ": no replica was ready for a session within " + to_text(limit));
    }
    co_await sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace troupe::detail
