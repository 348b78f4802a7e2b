#include "runtime/service/publish.hpp"

#include <stdexcept>
#include <utility>

#include "runtime/coroutine/combine.hpp"
#include "runtime/service/call/publication.hpp"
#include "runtime/service/call/signal.hpp"

namespace troupe::detail {

namespace {

task<> until_given(std::shared_ptr<signal> done) { co_await signal::awaiter(std::move(done)); }

}  // namespace

task<> publish(std::shared_ptr<service_state> service, call_options options, ref<call_base> call) {
  const auto publisher = service->get_publisher();
  if (!publisher && !service->closed()) {
    throw std::logic_error(service->options.name +
                           ": publish: expected to be called in the process that serves the "
                           "service, got called in another one");
  }
  const auto done = std::make_shared<signal>();
  auto asked = std::make_shared<publication>(
      service, std::move(call),
      [done](std::exception_ptr error) { signal::set(done, std::move(error)); });
  // Dropping the request answers it.
  if (publisher) publisher(std::exchange(asked, nullptr));
  asked = nullptr;
  const auto limit = options.deadline == duration(0) ? service->options.deadline : options.deadline;
  if (limit == no_limit) {
    co_await until_given(done);
  } else {
    co_await with_timeout(until_given(done), limit);
  }
}

}  // namespace troupe::detail
