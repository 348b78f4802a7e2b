// Where this executable was started as a replica's process, it serves that before any test runs.

#define CATCH_CONFIG_EXTERNAL_INTERFACES  // Listeners, in Catch2 v2.

#include "runtime/system/child_process.hpp"
#include "tests/test.hpp"

namespace {

#if __has_include(<catch2/catch_all.hpp>)
using listener = Catch::EventListenerBase;
#else
using listener = Catch::TestEventListenerBase;
#endif

class hosting final : public listener {
 public:
  using listener::listener;
  void testRunStarting(const Catch::TestRunInfo&) override {
    troupe::detail::serve_parent_if_child();
  }
};

CATCH_REGISTER_LISTENER(hosting)

}  // namespace
