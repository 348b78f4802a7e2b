#include "algorithms/loops/update_gate.hpp"

#include <string>

#include "runtime/coroutine/combine.hpp"
#include "runtime/coroutine/sleep.hpp"
#include "runtime/system/system.hpp"
#include "tests/test.hpp"

namespace troupe::loops {
namespace {

using std::chrono::seconds;

task<> play(update_gate* gate, seconds from, seconds length, std::string* told, char name) {
  co_await sleep_for(from);
  const auto passed = co_await gate->enter();
  *told += name;
  co_await sleep_for(length);
  *told += static_cast<char>(name - 'a' + 'A');
}

task<> update(update_gate* gate, std::string* told) {
  co_await sleep_for(seconds(2));
  const auto closed = co_await gate->close();
  *told += '(';
  co_await sleep_for(seconds(10));
  *told += ')';
}

task<> play_beside_an_update(std::string* told) {
  update_gate gate;
  std::vector<task<>> all_of_them;
  all_of_them.push_back(play(&gate, seconds(0), seconds(5), told, 'a'));
  all_of_them.push_back(play(&gate, seconds(1), seconds(2), told, 'b'));
  all_of_them.push_back(play(&gate, seconds(3), seconds(1), told, 'c'));  // waits for the update
  all_of_them.push_back(update(&gate, told));
  co_await all(std::move(all_of_them));
}

TEST_CASE("update gate: an update waits for the episodes under way, and later ones for it") {
  std::string told;
  system sys({.deterministic = true, .seed = 1});
  sys.run(play_beside_an_update(&told));
  CHECK(told == "abBA()cC");
}

}  // namespace
}  // namespace troupe::loops
