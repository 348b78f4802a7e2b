// Where this executable was started as a replica's process, it serves that before any test runs.

#define CATCH_CONFIG_EXTERNAL_INTERFACES  // Listeners, in Catch2 v2.

#include "runtime/system/child_process.hpp"
#include "tests/test.hpp"

namespace {

class hosting final : public Catch::TestEventListenerBase {
 public:
  using Catch::TestEventListenerBase::TestEventListenerBase;
  void testRunStarting(const Catch::TestRunInfo&) override {
    troupe::detail::serve_parent_if_child();
  }
};

CATCH_REGISTER_LISTENER(hosting)

}  // namespace
