#include "runtime/trace/trace_span.hpp"
#include "tests/runtime/support.hpp"
#include "tests/runtime/trace/drawn_trace.hpp"

namespace troupe {
namespace {

using namespace testing;

struct napper {
  task<int> nap(int ms) {
    co_await sleep_for(std::chrono::milliseconds(ms));
    co_return ms;
  }
  int refuse() { throw std::runtime_error("no"); }
  int die_once(bool dies) {
    if (dies && !std::exchange(has_died, true)) throw fatal("as asked");
    return 1;
  }
  batch<int> square(batch<int> numbers) {
    for (int& n : numbers) n *= n;
    return numbers;
  }
  static inline bool has_died = false;
};

/// Asks a napper, twice.
struct asker {
  explicit asker(service<napper> of) : of(of) {}
  task<> ask() {
    co_await of.route<&napper::nap>(10);
    co_await of.route<&napper::nap>(20);
  }
  service<napper> of;
};

/// What a program in virtual time leaves in a trace.
drawn_trace trace_of(task<> (*program)(system&), std::size_t limit = trace::default_limit) {
  log_off();
  const auto kept = std::make_shared<trace>(limit);
  {
    troupe::system sys({.deterministic = true, .seed = 3, .trace = kept});
    sys.run(program(sys));
  }
  CHECK(kept->size() <= limit);
  return read_trace(*kept);
}

task<> one_nap(system& sys) {
  auto nappers = co_await sys.serve<napper>({.name = "napper"});
  co_await nappers.route<&napper::nap>(10);
}

task<> nap(service<napper> of, int ms) { co_await of.route<&napper::nap>(ms); }

task<> three_naps(system& sys) {
  auto nappers = co_await sys.serve<napper>({.name = "napper"});
  std::vector<task<>> calls;
  for (int ms : {30, 20, 10}) calls.push_back(nap(nappers, ms));
  co_await all(std::move(calls));
}

task<> square(service<napper> of, int n) { co_await of.route<&napper::square>(n); }

task<> three_squares(system& sys) {
  auto nappers = co_await sys.serve<napper>({.name = "napper"});
  std::vector<task<>> calls;
  for (int n = 0; n < 3; ++n) calls.push_back(square(nappers, n));
  co_await all(std::move(calls));
}

task<> many_squares(system& sys) {
  auto nappers = co_await sys.serve<napper>({.name = "napper", .replicas = 3});
  for (int i = 0; i < 50; ++i) {
    std::vector<task<>> calls;
    for (int n = 0; n < 12; ++n) calls.push_back(square(nappers, n));
    co_await all(std::move(calls));
  }
}

task<> ask_for_naps(system& sys) {
  auto nappers = co_await sys.serve<napper>({.name = "napper"});
  auto askers = co_await sys.serve<asker>({.name = "asker", .replicas = 2}, nappers);
  co_await askers.fanout<&asker::ask>();
}

task<> roll_out(service<napper> of, int ms) {
  const trace_span mine("rollouts", "rollout");
  co_await of.route<&napper::nap>(ms);
  co_await of.route<&napper::nap>(ms);
}

task<> two_rollouts(system& sys) {
  auto nappers = co_await sys.serve<napper>({.name = "napper"});
  std::vector<task<>> calls;
  calls.push_back(roll_out(nappers, 10));
  calls.push_back(roll_out(nappers, 20));
  co_await all(std::move(calls));
}

task<> sleep_and_nap(service<napper> of) {
  co_await sleep_for(5ms);
  co_await of.route<&napper::nap>(10);
}

task<> roll_out_beside(system& sys) {
  auto nappers = co_await sys.serve<napper>({.name = "napper"});
  const trace_span mine("rollouts", "rollout");
  std::vector<task<>> beside;
  beside.push_back(sleep_and_nap(nappers));
  co_await all(std::move(beside));
  co_await sleep_for(5ms);
  co_await nappers.route<&napper::nap>(10);
}

task<> failures(system& sys) {
  auto nappers =
      co_await sys.serve<napper>({.name = "napper", .idempotent = {endpoint<&napper::die_once>}});
  co_await nappers.try_route<&napper::refuse>();
  co_await nappers.with({.deadline = 5ms}).try_route<&napper::nap>(100);
  napper::has_died = false;
  co_await nappers.route<&napper::die_once>(true);
}

}  // namespace

TEST_CASE("trace: an awaited call is a wait and an execution, with an arrow between them") {
  const auto seen = trace_of(one_nap);
  const auto wait = seen.only("waiting for napper.nap");
  const auto work = seen.only("nap");
  CHECK(wait.row == "main");
  CHECK(work.row == "napper 0");
  CHECK(wait.end - wait.begin == Approx(10'000));
  CHECK(work.end - work.begin == Approx(10'000));
  CHECK(seen.arrows == std::vector<std::pair<std::string, std::string>>{{"main", "napper 0"}});
}

TEST_CASE("trace: calls at the same time get rows of their own") {
  const auto seen = trace_of(three_naps);
  CHECK(seen.named("nap").size() == 3);
  CHECK(seen.rows == std::vector<std::string>{"main", "main (2)", "main (3)", "napper 0",
                                              "napper 0 (2)", "napper 0 (3)"});
  CHECK(seen.arrows.size() == 3);
}

TEST_CASE("trace: a batch is one slice, and every call of it has an arrow") {
  const auto seen = trace_of(three_squares);
  CHECK(seen.only("square x3").row == "napper 0");
  CHECK(seen.arrows.size() == 3);
  for (const auto& [from, to] : seen.arrows) CHECK(to == "napper 0");
}

TEST_CASE("trace: what an endpoint waits for lies within its execution") {
  const auto seen = trace_of(ask_for_naps);
  const auto asked = seen.named("ask");
  REQUIRE(asked.size() == 2);
  std::size_t inside = 0;
  for (const auto& wait : seen.named("waiting for napper.nap")) {
    for (const auto& whole : asked) {
      inside += whole.row == wait.row && whole.begin <= wait.begin && wait.end <= whole.end;
    }
  }
  CHECK(inside == 4);
  CHECK(std::ranges::count(seen.rows, "asker 1") == 1);
}

TEST_CASE("trace: a program's own spans get rows, and its calls lie within them") {
  const auto seen = trace_of(two_rollouts);
  const auto spans = seen.named("rollout");
  REQUIRE(spans.size() == 2);
  for (const auto& span : spans) {
    const auto waits = seen.named("waiting for napper.nap");
    CHECK(std::ranges::count(waits, span.row, &drawn_slice::row) == 2);
  }
  CHECK(std::ranges::count(seen.rows, "rollouts 0") == 1);
  CHECK(std::ranges::count(seen.rows, "rollouts 1") == 1);
}

TEST_CASE("trace: what a span starts beside itself lies within it, whatever it waits for before") {
  const auto seen = trace_of(roll_out_beside);
  CHECK(seen.rows == std::vector<std::string>{"rollouts 0", "napper 0"});
  CHECK(seen.named("waiting for napper.nap").size() == 2);
}

TEST_CASE("trace: errors, cancelled calls and crashes are told apart") {
  const auto seen = trace_of(failures);
  CHECK(seen.only("refuse").outcome == "error");
  CHECK(seen.only("waiting for napper.refuse").outcome == "error");
  CHECK(seen.only("nap").outcome == "cancelled");
  CHECK(seen.only("waiting for napper.nap").outcome == "error");
  CHECK(seen.marks == std::vector<std::string>{"crash: as asked"});
  CHECK(seen.only("waiting for napper.die_once").outcome == "ok");
  CHECK(seen.only("die_once").row == "napper 0");  // The successor's: the first has told nothing.
  CHECK(seen.arrows.size() == 3);
}

TEST_CASE("trace: it is bounded, and says so") {
  const auto seen = trace_of(three_naps, 2);
  CHECK(seen.slices.size() == 2);
  CHECK(seen.full);
  CHECK(seen.marks == std::vector<std::string>{"the trace is full: 2 slices"});
  CHECK_FALSE(trace_of(three_naps, 6).full);
}

TEST_CASE("trace: systems in virtual time follow one another") {
  log_off();
  const auto kept = std::make_shared<trace>();
  for (int i = 0; i < 2; ++i) {
    troupe::system sys({.deterministic = true, .trace = kept});
    sys.run(one_nap(sys));
  }
  const auto naps = read_trace(*kept).named("nap");
  REQUIRE(naps.size() == 2);
  CHECK(naps[0].end <= naps[1].begin);
}

TEST_CASE("trace: threads write at the same time") {
  log_off();
  const auto kept = std::make_shared<trace>();
  {
    troupe::system sys({.threads = 3, .trace = kept});
    sys.run(many_squares(sys));
  }
  const auto seen = read_trace(*kept);
  CHECK(seen.named("waiting for napper.square").size() == 600);
  CHECK(seen.arrows.size() == 600);
}

}  // namespace troupe
