#include "runtime/system/run.hpp"
#include "tests/message_of.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;

struct clerk {
  int echo(int n) {
    notes->push_back(n);
    return n;
  }
  task<int> wait(int n) {
    notes->push_back(n);
    co_await sleep_for(1ms);
    co_return n;
  }
  batch<int> gather(batch<int> items) {
    for (const int n : items) notes->push_back(n);
    return items;
  }
  std::shared_ptr<std::vector<int>> notes;
};

std::string refusal_of(std::string_view text) {
  return testing::message_of<fault_plan_error>([&] { fault_plan::parse(text); });
}

/// How calls of all three kinds ended, and what the replicas executed.
struct outcome_counts {
  int ok = 0;
  std::map<error_kind, int> errors;
  std::vector<int> executed;
  duration took{};
};

task<> count(task<outcome<int>> call, int expected, outcome_counts& counts) {
  const auto result = co_await call;
  if (!result.ok()) {
    ++counts.errors[kind_of(result)];
    co_return;
  }
  CHECK(result.value() == expected);
  ++counts.ok;
}

task<outcome_counts> make_calls(system& sys, call_options with) {
  auto notes = std::make_shared<std::vector<int>>();
  auto clerks = co_await sys.serve<clerk>(
      {.name = "clerks", .replicas = 2, .max_restarts = 10000, .backoff = 1ms}, notes);
  const auto called = clerks.with(with);
  outcome_counts counts;
  const auto start = detail::strand::current().now();
  for (int i = 0; i < 100; ++i) {
    std::vector<task<>> calls;
    calls.push_back(count(called.try_route<&clerk::echo>(3 * i), 3 * i, counts));
    calls.push_back(count(called.try_route<&clerk::wait>(3 * i + 1), 3 * i + 1, counts));
    calls.push_back(count(called.try_route<&clerk::gather>(3 * i + 2), 3 * i + 2, counts));
    co_await all(std::move(calls));
  }
  counts.took = detail::strand::current().now() - start;
  counts.executed = *notes;
  std::sort(counts.executed.begin(), counts.executed.end());
  co_return counts;
}

outcome_counts counts_with(std::string_view faults, call_options with = {},
                           std::uint64_t seed = 3) {
  log_off();
  system sys({.deterministic = true, .seed = seed, .faults = fault_plan::parse(faults)});
  return sys.run(make_calls(sys, with));
}

bool each_once(const std::vector<int>& executed) {
  return std::adjacent_find(executed.begin(), executed.end()) == executed.end();
}

task<> nothing(system&) { co_return; }

int run_with(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), {"program", "--metrics-port", "0", "--log-level", "off"});
  return run(static_cast<int>(arguments.size()), const_cast<char**>(arguments.data()), nothing);
}

task<> spare_one(system& sys) {
  const auto notes = std::make_shared<std::vector<int>>();
  const auto spared = co_await sys.serve<clerk>({.name = "spared", .faults = false}, notes);
  const auto struck = co_await sys.serve<clerk>({.name = "struck"}, notes);
  for (int i = 0; i < 20; ++i) {
    const int answer = co_await spared.route<&clerk::echo>(i);
    CHECK(answer == i);
  }
  const auto outcome = co_await struck.try_route<&clerk::echo>(1);
  CHECK(kind_of(outcome) == error_kind::replica_lost);
}

}  // namespace

TEST_CASE("faults: a plan is read from its parts, and its text is read as itself") {
  const auto plan =
      fault_plan::parse("crash=0.001,delay=0.01:20ms,drop=0.002,duplicate=0.25,slow=1:1.5s");
  CHECK(plan.crash == 0.001);
  CHECK(plan.drop == 0.002);
  CHECK(plan.duplicate == 0.25);
  CHECK(plan.delay == 0.01);
  CHECK(plan.delay_limit == 20ms);
  CHECK(plan.slow == 1);
  CHECK(plan.slow_limit == 1500ms);
  CHECK(fault_plan::parse(plan.text()).text() == plan.text());
  CHECK(fault_plan::parse(plan.text()).slow_limit == 1500ms);
  CHECK(fault_plan::parse("slow=0.5").slow_limit == 10ms);
  CHECK(fault_plan::parse("random").random);
  CHECK_FALSE(fault_plan().any());
}

TEST_CASE("faults: what is wrong with a plan is said of the part that is wrong") {
  CHECK(refusal_of("crash=0.1,drop=2") == "faults: \"drop=2\": expected a probability from 0 to 1");
  CHECK(refusal_of("crash") == "faults: \"crash\": expected a probability from 0 to 1");
  CHECK(refusal_of("crash=nan") == "faults: \"crash=nan\": expected a probability from 0 to 1");
  CHECK(refusal_of("crash=0.1x") == "faults: \"crash=0.1x\": expected a probability from 0 to 1");
  CHECK(refusal_of("crash=-0.1") == "faults: \"crash=-0.1\": expected a probability from 0 to 1");
  CHECK(refusal_of("delay=0.1:5") ==
        "faults: \"delay=0.1:5\": expected a time above 0 and up to 3600s after the colon, such "
        "as 50ms");
  CHECK(refusal_of("slow=0.1:-5ms").find("expected a time above 0") != std::string::npos);
  CHECK(refusal_of("drop=0.1:5ms") ==
        "faults: \"drop=0.1:5ms\": expected no time: only delay and slow have one");
  CHECK(refusal_of("drop=0.1,drop=0.2") == "faults: \"drop=0.2\": expected each fault once");
  const auto known =
      ": expected random, or crash=, drop=, duplicate=, delay= or slow= with a probability";
  CHECK(refusal_of("crush=0.1") == std::string("faults: \"crush=0.1\"") + known);
  CHECK(refusal_of("") == std::string("faults: \"\"") + known);
  CHECK(refusal_of("crash=0.1,") == std::string("faults: \"\"") + known);
}

TEST_CASE("faults: a system that is not deterministic refuses them") {
  CHECK_THROWS_WITH(system({.threads = 1, .faults = fault_plan::parse("crash=0.5")}),
                    "system: faults: expected a deterministic system, got \"crash=0.5\" in one "
                    "that is not");
}

TEST_CASE("faults: a program's --faults needs --deterministic and a plan") {
  CHECK(run_with({"--deterministic", "--faults", "random"}) == 0);
  CHECK(run_with({"--deterministic", "--seed", "4", "--faults", "crash=0.1"}) == 0);
  CHECK(run_with({"--faults", "random"}) == 2);
  CHECK(run_with({"--deterministic", "--faults", "crash=7"}) == 2);
  CHECK(run_with({"--deterministic", "--faults", ""}) == 2);
}

TEST_CASE("faults: a service that is spared sees none") {
  log_off();
  system sys({.deterministic = true, .seed = 1, .faults = fault_plan::parse("crash=1")});
  sys.run(spare_one(sys));
}

TEST_CASE("error: its kind is told from any exception") {
  const auto lost = std::make_exception_ptr(call_error(error_kind::replica_lost, "gone"));
  CHECK(is_kind(lost, error_kind::replica_lost));
  CHECK_FALSE(is_kind(lost, error_kind::session_lost));
  CHECK_FALSE(is_kind(std::make_exception_ptr(1), error_kind::replica_lost));
  CHECK_FALSE(is_kind(nullptr, error_kind::replica_lost));
}

TEST_CASE("faults: without them every call is answered") {
  const auto counts = counts_with("crash=0");
  CHECK(counts.ok == 300);
  CHECK(counts.executed.size() == 300);
}

TEST_CASE("faults: a crash ends calls as replica_lost, executed once or not at all") {
  const auto counts = counts_with("crash=0.05");
  CHECK(counts.ok > 200);
  CHECK(counts.errors.at(error_kind::replica_lost) == 300 - counts.ok);
  CHECK(each_once(counts.executed));
  CHECK(counts.executed.size() < 300);                                  // Some before ...
  CHECK(counts.executed.size() > static_cast<std::size_t>(counts.ok));  // ... some after.
}

TEST_CASE("faults: a call with a deadline hears by that of a lost message") {
  const auto counts = counts_with("drop=0.05", {.deadline = 20ms});
  CHECK(counts.ok > 200);
  CHECK(counts.errors.size() == 1);
  CHECK(counts.errors.at(error_kind::deadline_exceeded) == 300 - counts.ok);
  CHECK(each_once(counts.executed));
  CHECK(counts.executed.size() < 300);
  CHECK(counts.executed.size() > static_cast<std::size_t>(counts.ok));
}

TEST_CASE("faults: a message lost without a deadline is the loss of the replica") {
  const auto counts = counts_with("drop=0.05");
  CHECK(counts.ok > 150);
  CHECK(counts.errors.size() == 1);
  CHECK(counts.errors.at(error_kind::replica_lost) == 300 - counts.ok);
  CHECK(each_once(counts.executed));
}

TEST_CASE("faults: a message that comes twice is executed and answered once") {
  const auto counts = counts_with("duplicate=1");
  CHECK(counts.ok == 300);
  CHECK(counts.executed.size() == 300);
  CHECK(each_once(counts.executed));
}

TEST_CASE("faults: delays and slow turns take virtual time") {
  const auto quick = counts_with("crash=0");
  const auto delayed = counts_with("delay=0.5:40ms");
  const auto slow = counts_with("slow=0.5:40ms");
  CHECK(delayed.ok == 300);
  CHECK(slow.ok == 300);
  CHECK(delayed.took > quick.took + 1s);
  CHECK(slow.took > quick.took + 1s);
  const auto hurried = counts_with("delay=0.5:40ms", {.deadline = 10ms});
  CHECK(hurried.errors.at(error_kind::deadline_exceeded) > 50);
}

TEST_CASE("faults: the same seed draws the same ones, another seed others") {
  const auto plan = "crash=0.02,drop=0.02,duplicate=0.1,delay=0.2:10ms,slow=0.2:5ms";
  const auto first = counts_with(plan, {.deadline = 50ms}, 11);
  const auto again = counts_with(plan, {.deadline = 50ms}, 11);
  const auto other = counts_with(plan, {.deadline = 50ms}, 12);
  CHECK(first.took == again.took);
  CHECK(first.executed == again.executed);
  CHECK(first.took != other.took);
  const detail::fault_source random(fault_plan::parse("random"), 5);
  const detail::fault_source same(fault_plan::parse("random"), 5);
  const detail::fault_source another(fault_plan::parse("random"), 6);
  CHECK(random.plan().text() == same.plan().text());
  CHECK(random.plan().text() != another.plan().text());
}

}  // namespace troupe
