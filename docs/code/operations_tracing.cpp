// The code of docs/operations/tracing.md.

// readme: span
#include "runtime/system/run.hpp"
#include "runtime/trace/trace_span.hpp"

struct dice {
  int roll() { return 4; }
};

troupe::task<int> play(troupe::service<dice> all_dice) {
  const troupe::trace_span span("games", "game");  // ends with the scope
  const int first = co_await all_dice.route<&dice::roll>();
  const int second = co_await all_dice.route<&dice::roll>();
  co_return first + second;
}
// readme: end
