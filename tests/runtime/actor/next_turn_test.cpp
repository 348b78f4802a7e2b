#include "runtime/service/call/next_turn.hpp"

#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;

/// Computes in parts until it is told to stop.
struct worker {
  task<int> work() {
    tracked here;
    int turns = 0;
    for (; !stopped; ++turns) co_await next_turn();
    co_return turns;
  }
  int stop_after(int calls) {
    stopped = ++asked >= calls;
    return asked;
  }
  bool stopped = false;
  int asked = 0;
};

task<int> work_at(service<worker> at) { co_return co_await at.route<&worker::work>(); }

task<> stop_at(service<worker> at) {
  for (int i = 0; i < 20; ++i) co_await at.route<&worker::stop_after>(20);
}

task<> stop_while_it_works(system& sys) {
  auto workers = co_await sys.serve<worker>({.name = "worker"});
  // Both ends: a coroutine that never let others in would never end, and take its callers along.
  auto both = co_await all(work_at(workers), stop_at(workers));
  CHECK(std::get<0>(both) > 0);
}

TEST_CASE("next_turn: calls are answered between the parts of a long one") {
  play(stop_while_it_works);
  log_off();
  system sys({.threads = 1});  // and nobody else's thread
  sys.run(stop_while_it_works(sys));
}

task<> give_up(system& sys) {
  auto workers = co_await sys.serve<worker>({.name = "worker"});
  const auto late = co_await error_of(work_at(workers.with({.deadline = 5ms})));
  CHECK(starts_with(late, "deadline_exceeded"));
  co_await sleep_for(20ms);
  CHECK(tracked::live == 0);
  const int asked = co_await workers.route<&worker::stop_after>(1);
  CHECK(asked == 1);
}

TEST_CASE("next_turn: time passes meanwhile, and who is cancelled goes") {
  play(give_up);
  log_off();
  system sys({.threads = 1});
  sys.run(give_up(sys));
}

}  // namespace
}  // namespace troupe
