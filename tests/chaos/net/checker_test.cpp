#include "tests/chaos/net/checker.hpp"

#include <nlohmann/json.hpp>
#include <optional>

#include "tests/test.hpp"

namespace troupe::chaos {
namespace {

using texts = std::vector<std::string>;

constexpr std::int64_t controller = 10, node = 20;

record begun(double at, std::string id, std::string kind, bool once = true,
             std::int64_t process = controller) {
  return {.what = record_kind::begun,
          .at = at,
          .process = process,
          .id = std::move(id),
          .kind = std::move(kind),
          .once = once,
          .deadline = 10};
}

record answered(double at, std::string id, std::int64_t value = 0,
                std::int64_t process = controller) {
  return {.what = record_kind::ended,
          .at = at,
          .process = process,
          .id = std::move(id),
          .ok = true,
          .value = value};
}

record failed(double at, std::string id, std::string error) {
  return {.what = record_kind::ended,
          .at = at,
          .process = controller,
          .id = std::move(id),
          .error = std::move(error)};
}

record executed(double at, std::string id, std::string where = "worker/0",
                std::string session = "") {
  return {.what = record_kind::executed,
          .at = at,
          .process = node,
          .id = std::move(id),
          .where = std::move(where),
          .session = std::move(session)};
}

record hold(record_kind what, double at, std::string session) {
  return {.what = what,
          .at = at,
          .process = controller,
          .where = "guest/0",
          .session = std::move(session)};
}

record acknowledged(double at, std::int64_t version) {
  return {.what = record_kind::acknowledged, .at = at, .process = controller, .value = version};
}

record kept(std::string id) {
  return {.what = record_kind::kept, .at = 90, .process = controller, .id = std::move(id)};
}

record fault(double until, double recovered) {
  return {.what = record_kind::fault,
          .at = until - 4,
          .id = "node-1",
          .kind = "stop node",
          .until = until,
          .recovered = recovered,
          .limit = 10};
}

const record finished{.what = record_kind::finished, .at = 100, .process = controller};

/// A run in which nothing went wrong.
std::vector<record> good_run() {
  return {begun(1, "w", "work"), executed(1.1, "w"), answered(1.2, "w"),
          // An idempotent call that was sent again.
          begun(2, "a", "ask", false), executed(2.1, "a"), executed(2.2, "a", "worker/1"),
          answered(2.3, "a"),
          // A call whose replica was lost.
          begun(3, "l", "work"), failed(3.5, "l", "replica_lost"), acknowledged(4, 7),
          begun(5, "r", "read", false), answered(5.1, "r", 7), begun(6, "i", "push", true, node),
          executed(6.1, "i", "ledger"), answered(6.2, "i", 0, node), kept("i"),
          // A call of a process that was killed.
          begun(7, "k", "push", true, 30), hold(record_kind::held, 8, "s1"),
          begun(8.1, "s1/0", "step"), executed(8.2, "s1/0", "guest/0", "s1"), answered(8.3, "s1/0"),
          hold(record_kind::released, 8.4, "s1"), hold(record_kind::held, 8.5, "s2"),
          begun(8.6, "s2/0", "step"), executed(8.7, "s2/0", "guest/0", "s2"), answered(8.8, "s2/0"),
          hold(record_kind::released, 8.9, "s2"), fault(20, 25), finished};
}

/// The verdict on that run with more records.
verdict with(std::vector<record> more) {
  auto run = good_run();
  run.insert(run.end(), more.begin(), more.end());
  return judge(std::move(run));
}

TEST_CASE("chaos history: a run in which nothing went wrong holds") {
  const auto found = judge(good_run());
  CHECK(found.holds());
  CHECK(found.details == texts{});
  CHECK(found.calls.at("work").begun == 2);
  CHECK(found.calls.at("work").failed.at("replica_lost") == 1);
  CHECK(found.calls.at("push").cut == 1);
  CHECK(found.recoveries.at("stop node").times == std::vector<double>{5});
  const auto figures = to_json(found);
  CHECK(figures["operations"] == 8);
  CHECK(figures["faults"] == 1);
  CHECK(figures["hung"] == 0);
  CHECK(figures["recovery_max_s"] == 5.0);
}

TEST_CASE("chaos history: a call that is not idempotent is executed at most once") {
  const auto found = with({executed(30, "w", "worker/1")});
  CHECK(found.doubled == 1);
  CHECK(found.details == texts{"call w (work), which is not idempotent, was executed 2 times"});
  CHECK_FALSE(found.holds());
  // Also if its caller was told that its replica was lost.
  CHECK(with({executed(3.1, "l"), executed(3.2, "l", "worker/1")}).doubled == 1);
  CHECK(with({executed(30, "a", "worker/2")}).holds());
}

TEST_CASE("chaos history: an item is in the ledger once") {
  const auto found = with({kept("i")});
  CHECK(found.doubled == 1);
  CHECK(found.details == texts{"item i is 2 times in the ledger"});
}

TEST_CASE("chaos history: what was acknowledged is not lost") {
  const auto call = with({begun(30, "x", "work"), answered(30.1, "x")});
  CHECK(call.lost == 1);
  CHECK(call.details == texts{"call x (work) was answered, but no replica executed it"});
  const auto item = with({begun(30, "y", "push", true, node), executed(30.1, "y", "ledger"),
                          answered(30.2, "y", 0, node)});
  CHECK(item.lost == 1);
  CHECK(item.details == texts{"item y was acknowledged, and the ledger does not have it"});
  // An item whose push failed may be there or not.
  CHECK(with({begun(30, "z", "push"), failed(31, "z", "replica_lost")}).holds());
  CHECK(with({begun(30, "z", "push"), failed(31, "z", "replica_lost"), kept("z")}).holds());
}

TEST_CASE("chaos history: two sessions of one replica are not held at once") {
  using enum record_kind;
  const auto found = with({hold(held, 30, "s3"), hold(held, 31, "s4"), hold(released, 32, "s3"),
                           hold(released, 33, "s4")});
  CHECK(found.overlapping == 1);
  CHECK(found.details == texts{"session s4 of replica guest/0 was acquired while s3 held it"});
  CHECK_FALSE(found.holds());
  CHECK(with({hold(held, 30, "s3"), hold(released, 31, "s3"), hold(held, 31.1, "s4"),
              hold(released, 32, "s4")})
            .holds());
}

TEST_CASE("chaos history: a replica does not execute calls of two sessions in turn") {
  const auto found = with(
      {begun(9, "s1/1", "step"), executed(9.1, "s1/1", "guest/0", "s1"), answered(9.2, "s1/1")});
  CHECK(found.overlapping == 1);
  CHECK(found.details ==
        texts{"replica guest/0 executed a call of session s1 after one of another session"});
}

TEST_CASE("chaos history: no version older than acknowledged is read") {
  const auto found = with({begun(30, "q", "read", false), answered(30.1, "q", 6)});
  CHECK(found.stale == 1);
  CHECK(found.details == texts{"call q read version 6 after version 7 was acknowledged"});
  // It was acknowledged after the call had begun.
  CHECK(with({begun(30, "q", "read", false), acknowledged(30.05, 8), answered(30.1, "q", 7)})
            .holds());
}

TEST_CASE("chaos history: every call ends in time") {
  const auto never = with({begun(30, "x", "work")});
  CHECK(never.hung == 1);
  CHECK(never.details == texts{"call x (work) never ended"});
  const auto late = with({begun(30, "x", "work"), failed(43, "x", "deadline_exceeded")});
  CHECK(late.hung == 1);
  CHECK(with({begun(30, "x", "work"), failed(41.9, "x", "deadline_exceeded")}).holds());
  // A process that goes on to write things still lives, so its calls must have ended.
  CHECK(with({begun(30, "x", "push", true, node), executed(50, "a", "worker/3")}).hung == 1);
}

TEST_CASE("chaos history: the time for which a process was stopped does not count") {
  const record stopped{.what = record_kind::paused, .at = 31, .process = controller, .until = 37};
  const auto ended = failed(46, "x", "deadline_exceeded");
  CHECK(with({begun(30, "x", "work"), stopped, ended}).holds());
  CHECK(with({begun(30, "x", "work"), ended}).hung == 1);
}

TEST_CASE("chaos history: a recovery takes at most twice the stated limit") {
  CHECK(with({fault(30, 50)}).holds());
  const auto late = with({fault(30, 51)});
  CHECK(late.late == 1);
  CHECK(late.details == texts{"stop node of node-1 at 26.0 s: everything served again after 21.0 "
                              "s, expected at most 20.0"});
  CHECK(with({fault(30, -1)}).late == 1);
}

TEST_CASE("chaos history: a service that goes down and a wrong answer are found") {
  CHECK(with({begun(30, "x", "work"), failed(31, "x", "service_down")}).down == 1);
  // The role that pushes has lost its controller.
  CHECK(with({begun(30, "x", "push"), failed(31, "x", "service_down")}).holds());
  CHECK(with({begun(30, "x", "ask", false), answered(31, "x", 3)}).wrong == 1);
  CHECK(with({executed(30, "unknown")}).wrong == 1);
}

TEST_CASE("chaos history: a run whose controller does not end in good order does not hold") {
  auto run = good_run();
  run.pop_back();
  CHECK_FALSE(judge(run).holds());
}

TEST_CASE("chaos history: records are read as they were written, without a part of a line") {
  std::string text;
  const auto run = good_run();
  for (const auto& one : run) text += to_line(one);
  const bool same = read_records(text + "{\"what\":\"beg", "history") == run;
  CHECK(same);
  CHECK_THROWS_WITH(read_records("{\"what\":\"begun\"}\n{\"what\":\"sung\"}\n", "h.jsonl"),
                    "h.jsonl, line 2: expected a record of a history: an unknown kind");
}

}  // namespace
}  // namespace troupe::chaos
