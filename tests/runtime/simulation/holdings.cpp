#include "tests/runtime/simulation/holdings.hpp"

#include "runtime/coroutine/combine.hpp"

namespace troupe::simulation {

namespace {

using namespace std::chrono_literals;

class table {
 public:
  explicit table(ledger* book) : book_(*book), alive_(*book) {}
  task<> sit(duration pause) {
    counted_frame here(book_);
    co_await sleep_for(pause);
  }

 private:
  ledger& book_;
  counted_frame alive_;
};

/// Takes a number of tables at once, and sits at each of them.
task<> dine(service<table> tables, std::size_t count, duration pause, ledger& book) {
  counted_frame here(book);
  const auto mine = co_await tables.sessions(count);
  for (const auto& one : mine) co_await one.route<&table::sit>(pause);
}

task<> dine_often(service<table> tables, dice random, ledger& book) {
  counted_frame here(book);
  for (int i = 0; i < 5; ++i) {
    const auto count = static_cast<std::size_t>(1 + random.below(3));
    try {
      co_await dine(tables, count, duration(1ms) * random.below(6), book);
      ++book.ends["several sessions"];
    } catch (const call_error& e) {
      book.require(e.kind() == error_kind::session_lost, "only errors that can be", e.what());
    }
    co_await sleep_for(duration(1ms) * random.below(4));
  }
}

class walker {
 public:
  using services = std::vector<service<walker>>;

  explicit walker(ledger* book) : book_(*book), alive_(*book) {}
  /// Calls the first of `way`, which calls the next, and so on; the number of calls.
  task<int> walk(services way) {
    counted_frame here(book_);
    if (way.empty()) co_return 0;
    const auto next = way.front();
    way.erase(way.begin());
    const int calls = co_await next.route<&walker::walk>(way);
    co_return calls + 1;
  }

 private:
  ledger& book_;
  counted_frame alive_;
};

task<> walk_often(walker::services all, dice random, ledger& book) {
  counted_frame here(book);
  for (int i = 0; i < 2; ++i) {
    const auto draw = [&] { return all[static_cast<std::size_t>(random.below(3))]; };
    const auto first = draw();
    walker::services way;
    for (int stops = 1 + random.below(3); stops > 0; --stops) way.push_back(draw());
    const auto walked = co_await first.try_route<&walker::walk>(way);
    const auto text = describe(walked.error());
    ++book.ends[walked.ok()                                     ? "walked"
                : text.find("wait for each other") != text.npos ? "a cycle was ended"
                                                                : "a walk failed"];
  }
}

serve_options robust(const char* name) {
  return {.name = name,
          .max_restarts = 1'000'000,
          .backoff = duration(2ms),
          .backoff_limit = duration(20ms)};
}

}  // namespace

task<> hold_and_wait(system& sys, dice random, ledger& book) {
  counted_frame here(book);
  auto few = robust("tables");
  few.replicas = 3;
  const auto tables = co_await sys.serve<table>(few, &book);
  walker::services walkers;
  for (const auto* name : {"west", "north", "east"}) {
    auto narrow = robust(name);
    narrow.max_queued = static_cast<std::size_t>(1 + random.below(2));
    narrow.max_ongoing = 1;
    if (random.once_in(2)) narrow.placement = placement::process;
    auto made = co_await sys.serve<walker>(narrow, &book);
    walkers.push_back(std::move(made));
  }
  std::vector<task<>> parts;
  for (int i = 0; i < 4; ++i) parts.push_back(dine_often(tables, random.fork(), book));
  for (int i = 0; i < 3; ++i) parts.push_back(walk_often(walkers, random.fork(), book));
  co_await all(std::move(parts));
  sys.stop(tables);
  for (const auto& each : walkers) sys.stop(each);
}

}  // namespace troupe::simulation
