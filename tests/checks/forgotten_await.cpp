// What a forgotten co_await says: each statement of `forget` does nothing. forgotten_await_test.sh
// has it compiled with clang's -verify, which wants these warnings, there, and no other.
#include "runtime/coroutine/condition.hpp"
#include "runtime/service/call/next_turn.hpp"
#include "runtime/system/system.hpp"

namespace troupe {

struct counter {
  int add(int n) { return total += n; }
  int total = 0;
};

void forget(service<counter> counters, session<counter> mine, condition& changed) {
  counters.route<&counter::add>(1);
  // expected-warning@-1 {{co_await it: a call that nobody awaits is never sent}}
  mine.route<&counter::add>(1);
  // expected-warning@-1 {{co_await it: a call that nobody awaits is never sent}}
  counters.try_route<&counter::add>(1);
  // expected-warning@-1 {{co_await it: a task that nobody awaits never begins}}
  mine.try_route<&counter::add>(1);
  // expected-warning@-1 {{co_await it: a task that nobody awaits never begins}}
  counters.fanout<&counter::add>(1);
  // expected-warning@-1 {{co_await it: a task that nobody awaits never begins}}
  counters.fanout_settled<&counter::add>(1);
  // expected-warning@-1 {{co_await it: a task that nobody awaits never begins}}
  counters.session();
  // expected-warning@-1 {{co_await it: a task that nobody awaits never begins}}
  sleep_for(duration(1));
  // expected-warning@-1 {{co_await it: a pause that nobody awaits takes no time}}
  changed.wait();
  // expected-warning@-1 {{co_await it: otherwise nobody waits}}
  next_turn();
  // expected-warning@-1 {{co_await it: otherwise no turn is given}}
}

task<> remember(service<counter> counters, session<counter> mine, condition& changed) {
  co_await counters.route<&counter::add>(1);
  co_await mine.try_route<&counter::add>(1);
  co_await counters.fanout<&counter::add>(1);
  co_await changed.wait();
  co_await sleep_for(duration(1));
  co_await next_turn();
}

}  // namespace troupe
