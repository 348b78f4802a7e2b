// A controller that leaves and comes back.

#include "runtime/coroutine/sleep.hpp"
#include "tests/runtime/remote/everywhere.hpp"

namespace troupe {
namespace {

using namespace testing;

class counter {
 public:
  explicit counter(int from) : total_(from) {}
  int add(int n) { return total_ += n; }

 private:
  int total_;
};

struct remote_role {
  explicit remote_role(service<counter> to) : to_(to) {}
  task<int> add(int n) { co_return co_await to_.route<&counter::add>(n); }
  int remember(int n) { return std::exchange(kept_, n); }

  service<counter> to_;
  int kept_ = 0;
};

/// Of a controller: what its services say.
struct answers {
  int kept = 0;        ///< By a role that outlives it: started from 10.
  int dropped = 0;     ///< By one that doesn't: started from 20.
  int through = 0;     ///< From the controller's own, by a role that outlives it: from 30.
  int remembered = 0;  ///< What the one before told that role.
};

task<answers> ask(system& sys, duration outlive, int first) {
  const auto nodes = placement::node("*");
  answers got;
  auto own = co_await sys.serve<counter>({.name = "own"}, 30);
  auto kept = co_await sys.serve<counter>(
      {.name = "kept", .placement = nodes, .outlive_controller = outlive}, first);
  auto dropped = co_await sys.serve<counter>({.name = "dropped", .placement = nodes}, 20);
  auto remote_roles = co_await sys.serve<remote_role>(
      {.name = "remote_roles", .placement = nodes, .outlive_controller = outlive}, own);
  got.kept = co_await kept.route<&counter::add>(1);
  got.dropped = co_await dropped.route<&counter::add>(1);
  got.through = co_await remote_roles.route<&remote_role::add>(1);
  got.remembered = co_await remote_roles.route<&remote_role::remember>(99);
  co_return got;
}

struct stay {
  duration outlive = 1min;
  duration absence = 0ms;
  int first = 10;  ///< What the second controller starts "kept" from.
  bool isolate = false;
};

/// What a second controller at the same address finds.
answers of_second(stay how) {
  std::uint16_t port = 0;
  auto first = std::make_unique<troupe::system>(system_options{.listen = "127.0.0.1:0"});
  port = first->port();
  troupe::system there({.isolate = how.isolate});
  auto options = at(*first);
  options.retry_max = std::chrono::milliseconds(50);
  const detail::node joining(there, options);
  const auto before = first->run(with_timeout(ask(*first, how.outlive, 10), 30s));
  CHECK(before.kept == 11);
  CHECK(before.dropped == 21);
  CHECK(before.through == 31);
  CHECK(before.remembered == 0);
  first = nullptr;
  std::this_thread::sleep_for(how.absence);
  troupe::system second({.listen = "127.0.0.1:" + std::to_string(port)});
  return second.run(with_timeout(ask(second, how.outlive, how.first), 30s));
}

}  // namespace

TEST_CASE("outlive: a controller that comes back finds what outlived it, as it was") {
  for (const bool isolate : {false, true}) {
    const auto got = of_second({.isolate = isolate});
    CHECK(got.kept == 12);
    CHECK(got.dropped == 21);
    CHECK(got.through == 31);  // Of the second controller's own.
    CHECK(got.remembered == 99);
  }
}

TEST_CASE("outlive: after its time, or with other arguments, a role is made anew") {
  CHECK(of_second({.outlive = 50ms, .absence = 500ms}).kept == 11);
  CHECK(of_second({.first = 12}).kept == 13);
  CHECK(of_second({.outlive = duration(0)}).remembered == 0);
}

}  // namespace troupe
