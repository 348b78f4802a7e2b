// A service in one screen. It has these parts:
//
//   counter    a role, which is a plain class whose member functions are the endpoints
//   counters   a service of two replicas of the role, later four, each an actor, behind one handle
//   count      a coroutine of one caller, written as if it were the only one
//   demo       the program's main coroutine, which starts the service and calls it
//
// Run it: ./hello_service

#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/system/run.hpp"

namespace {

using namespace std::chrono_literals;
using troupe::task;

struct counter {
  // A plain endpoint runs to its end. A replica runs one thing at a time, so it needs no lock.
  int add(int n) {
    if (n < 0) throw std::invalid_argument("it only counts up");
    return total += n;
  }
  // While a coroutine endpoint waits, the replica serves other calls.
  task<int> add_later(int n) {
    co_await troupe::sleep_for(10ms);
    co_return total += n;
  }
  // A batched endpoint gathers concurrent calls; its callers pass an int and get an int.
  troupe::batch<int> square(troupe::batch<int> numbers) {
    std::printf("  a batch of %zu\n", numbers.size());
    for (int& n : numbers) n *= n;
    return numbers;
  }
  int total = 0;
};

task<int> count(troupe::service<counter> counters, int n) {
  const int square = co_await counters.route<&counter::square>(n);
  co_return square;
}

task<> demo(troupe::system& sys) {
  // readme: service
  auto counters = co_await sys.serve<counter>({.name = "counter", .replicas = 2});

  const int one = co_await counters.route<&counter::add>(3);  // One replica answers.
  std::printf("one replica counted to %d\n", one);

  co_await sys.scale(counters, 4);                              // Two more, while it serves.
  const auto all = co_await counters.fanout<&counter::add>(1);  // Every replica answers.
  for (const int total : all) std::printf("a replica counted to %d\n", total);

  auto mine = co_await counters.session();  // Sticks to one replica.
  co_await mine.route<&counter::add>(5);
  const int again = co_await mine.route<&counter::add_later>(5);
  std::printf("mine, replica %zu, counted to %d\n", mine.replica(), again);
  // readme: end

  std::vector<task<int>> calls;  // These calls run at the same time.
  for (int n = 0; n < 32; ++n) calls.push_back(count(counters, n));
  const auto squares = co_await troupe::all(std::move(calls));
  std::printf("31 squared is %d\n", squares[31]);

  const auto refused = co_await counters.try_route<&counter::add>(-1);  // An error as a value.
  std::printf("%s\n", troupe::describe(refused.error()).c_str());
}

}  // namespace

int main(int argc, char** argv) { return troupe::run(argc, argv, demo); }
