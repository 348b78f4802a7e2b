#include "tests/chaos/report.hpp"

#include <nlohmann/json.hpp>

#include "runtime/base/error.hpp"
#include "tests/test.hpp"

namespace troupe::chaos {
namespace {

using namespace std::chrono_literals;

std::exception_ptr error_of(error_kind kind) {
  return std::make_exception_ptr(call_error(kind, "planned"));
}

/// A run in which nothing went wrong.
findings good_run() {
  findings f;
  f.kills.push_back({.victim = "node-1", .noticed = 2ms, .back = 3s});
  f.requests.begun = 2;
  f.requests.note_end(1ms, 10s, nullptr);
  f.requests.note_end(2ms, 10s, nullptr);
  f.sessions = {.begun = 3, .finished = 1, .lost = 1, .left = 1};
  auto& nodes = f.nodes.emplace();
  nodes.work.begun = 2;
  nodes.work.note_end(1500ms, 1500ms, error_of(error_kind::deadline_exceeded));
  nodes.work.note_end(1ms, 1500ms, error_of(error_kind::replica_lost));
  nodes.before = nodes.after = {.resident_bytes = 100'000'000, .descriptors = 40, .threads = 20};
  return f;
}

const limits promised{.noticed_ms = 50, .back_ms = 5000};

/// What is not as promised of that run once `change` has been done to it.
template <class Change>
std::vector<std::string> found_after(Change change) {
  auto f = good_run();
  change(f);
  return breaches(f, promised);
}
using texts = std::vector<std::string>;

TEST_CASE("chaos report: a run in which nothing went wrong is as promised") {
  CHECK(breaches(good_run(), promised).empty());
  const auto figures = to_json(good_run());
  CHECK(figures["hung"] == 0);
  CHECK(figures["service_down"] == 0);
  CHECK(figures["idempotent_answered_ratio"] == 1.0);
  CHECK(figures["back_ms_max"] == 3000.0);
}

TEST_CASE("chaos report: a call that never ends, or long after its deadline, hung") {
  const texts hung{"1 calls or episodes hung"};
  CHECK(found_after([](findings& f) { ++f.nodes->work.begun; }) == hung);
  CHECK(found_after([](findings& f) { ++f.sessions.begun; }) == hung);
  CHECK(found_after([](findings& f) {
          ++f.requests.begun;
          f.requests.note_end(10s + grace + 1ms, 10s, nullptr);
        }) == hung);
  CHECK(found_after([](findings& f) {
          ++f.requests.begun;
          f.requests.note_end(10s + grace, 10s, nullptr);
        }).empty());
  CHECK(found_after([](findings& f) { ++f.requests.begun; }) ==
        texts{"2 of 3 idempotent requests answered", hung[0]});
  CHECK(found_after([](findings& f) { f.load_ended = false; }) == texts{"the load has not ended"});
}

TEST_CASE("chaos report: a service that goes down is no loss of a replica") {
  const auto down = error_of(error_kind::service_down);
  const auto found = found_after([&](findings& f) {
    ++f.nodes->work.begun;
    f.nodes->work.note_end(1ms, 1500ms, down);
  });
  CHECK(found == texts{"1 calls or episodes ended as service_down",
                       "long calls ended otherwise than as deadline_exceeded or replica_lost"});
}

TEST_CASE("chaos report: an idempotent request that fails is not as promised") {
  const auto lost = error_of(error_kind::replica_lost);
  const auto found = found_after([&](findings& f) {
    ++f.requests.begun;
    f.requests.note_end(1ms, 10s, lost);
  });
  CHECK(found == texts{"2 of 3 idempotent requests answered"});
}

TEST_CASE("chaos report: what a controller may not keep of nodes that died") {
  CHECK(found_after([](findings& f) { f.nodes->after.resident_bytes = 105'000'000; }).empty());
  CHECK(found_after([](findings& f) { f.nodes->after.resident_bytes = 106'000'000; }) ==
        texts{"the controller's memory grew by 6.0 %, expected at most 5.0"});
  CHECK(found_after([](findings& f) { ++f.nodes->after.descriptors; }) ==
        texts{"the controller has 41 descriptors, expected at most 40"});
  CHECK(found_after([](findings& f) { ++f.nodes->after.threads; }) ==
        texts{"the controller has 21 threads, expected at most 20"});
}

TEST_CASE("chaos report: losses that are noticed or made good too late are named") {
  CHECK(found_after([](findings& f) { f.kills.clear(); }) == texts{"nothing was killed"});
  CHECK(found_after([](findings& f) { f.kills[0].noticed = 51ms; }) ==
        texts{"node-1, killed at 0.00 s, was noticed after 51.0 ms, expected at most 50"});
  CHECK(found_after([](findings& f) { f.kills[0].back = std::nullopt; }) ==
        texts{"node-1, killed at 0.00 s, was back after never ms, expected at most 5000"});
}

}  // namespace
}  // namespace troupe::chaos
