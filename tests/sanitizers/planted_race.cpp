// Races on purpose, each in turns that CAF's threads run: what the thread sanitizer must report for
// all that tests/sanitizers/tsan.supp keeps from it. planted_race shared|sent|unread
#include <cstdio>
#include <cstring>
#include <thread>

#include "runtime/base/log.hpp"
#include "runtime/coroutine/channel.hpp"
#include "runtime/service/call/caller.hpp"
#include "runtime/system/system.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;

/// Counts in a plain integer that another thread counts in, too.
struct counts_at_its_end {
  std::shared_ptr<int> count;
  counts_at_its_end(std::shared_ptr<int> count) : count(std::move(count)) {}
  counts_at_its_end(counts_at_its_end&&) = default;
  ~counts_at_its_end() {
    if (count) ++*count;
  }
};

struct careless {
  void close(std::shared_ptr<channel<int>> shared) { shared->close(); }
  int read(std::shared_ptr<int> n) {
    int sum = 0;
    for (int i = 0; i < 100; ++i) sum += *n;
    return sum;
  }
  void block() { std::this_thread::sleep_for(50ms); }
  void take(counts_at_its_end) {}
  detail::ref<detail::inbox> where() { return detail::caller::current().me(); }
};

/// A channel belongs to one actor; two close this one.
task<> share_a_channel(system& sys) {
  auto two =
      co_await sys.serve<careless>({.name = "two", .replicas = 2, .placement = placement::thread});
  const auto shared = std::make_shared<channel<int>>(1);
  for (int i = 0; i < 100; ++i) co_await two.fanout<&careless::close>(shared);
}

task<> write_it(std::shared_ptr<int> n) {
  for (int i = 0; i < 100; ++i) ++*n;
  co_return;
}
task<> read_it(service<careless> one, std::shared_ptr<int> n) {
  co_await one.route<&careless::read>(n);
}

/// What was sent is written to afterwards.
task<> write_after_sending(system& sys) {
  auto one = co_await sys.serve<careless>({.name = "one", .placement = placement::thread});
  const auto n = std::make_shared<int>(0);
  for (int i = 0; i < 100; ++i) co_await all(read_it(one, n), write_it(n));
}

task<> block_it(service<careless> one) { co_await one.route<&careless::block>(); }
task<> give(service<careless> one, std::shared_ptr<int> n) {
  co_await one.route<&careless::take>(counts_at_its_end(n));
}

task<> block_and_give(service<careless> one, std::shared_ptr<int> n) {
  co_await all(block_it(one), give(one, n));
}

/// A message that its actor does not live to read is destroyed there, while the sender goes on.
task<> leave_unread(system& sys) {
  auto one = co_await sys.serve<careless>({.name = "one",
                                           .placement = placement::thread,
                                           .max_restarts = 100,
                                           .backoff = 1ms,
                                           .backoff_limit = 1ms});
  for (int i = 0; i < 20; ++i) {
    const auto known = co_await one.try_route<&careless::where>();
    if (!known.ok()) continue;  // Slow machines: it is only dying now.
    const auto where = known.value();
    const auto n = std::make_shared<int>(0);
    try {
      co_await with_timeout(block_and_give(one, n), 5ms);
    } catch (const call_error&) {
    }
    where->kill("planted");
    // All the while until it is destroyed, and without a lock that would put the two in an order.
    for (int ms = 0; ms < 60; ++ms) {
      ++*n;
      std::this_thread::sleep_for(1ms);
    }
  }
}

}  // namespace
}  // namespace troupe

int main(int argc, char** argv) {
  using namespace troupe;
  const char* which = argc == 2 ? argv[1] : "";
  const auto program = !std::strcmp(which, "shared")   ? share_a_channel
                       : !std::strcmp(which, "sent")   ? write_after_sending
                       : !std::strcmp(which, "unread") ? leave_unread
                                                       : nullptr;
  if (!program) return std::fputs("usage: planted_race shared|sent|unread\n", stderr), 2;
  log::set_level("off");
  troupe::system sys({.threads = 2});
  sys.run(program(sys));
}
