#include "algorithms/run/failing_environment.hpp"

#include <chrono>

#include "actors/environments/metrics_observers.hpp"
#include "runtime/coroutine/combine.hpp"
#include "runtime/coroutine/sleep.hpp"
#include "runtime/system/system.hpp"
#include "tests/runtime/support.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;

const std::string env = "Hanging-v0";

/// Drops an episode of each of `count` environments in each minute, and lets one of them take a
/// step in every minute whose number is a multiple of `step_every`.
task<> drop_episodes(env_observers of, std::size_t count, int minutes, int step_every) {
  for (int minute = 1; minute <= minutes; ++minute) {
    co_await sleep_for(60s);
    for (std::size_t i = 0; i < count; ++i) {
      of.failed({.index = i, .id = env, .reason = env_failure_reason::lost, .message = "it hangs"});
    }
    if (minute % step_every == 0) of.stepped(1);
  }
}

/// What the watch says while the work goes on; empty if it says nothing.
std::string said_by_watch(std::size_t count, int minutes, int step_every) {
  testing::log_off();
  troupe::system sys({.deterministic = true, .seed = 1});
  const auto observers = observers_of(training_metrics(sys.metrics(), env), env);
  std::vector<task<>> either;
  either.push_back(watch_environments(sys.metrics(), {}, {.id = env, .count = count}));
  either.push_back(drop_episodes(observers, count, minutes, step_every));
  try {
    sys.run(any(std::move(either)));
  } catch (const environment_failed& e) {
    return e.what();
  }
  return {};
}

TEST_CASE("failing environment: a run ends after five episodes of each that hung") {
  CHECK(said_by_watch(1, 100, 2000) ==
        "Hanging-v0: 5 episodes were dropped, and no environment has taken a step in 300 s: it "
        "hangs");
  CHECK(said_by_watch(8, 100, 2000) ==
        "Hanging-v0: 40 episodes were dropped, and no environment has taken a step in 300 s: it "
        "hangs");
}

TEST_CASE("failing environment: a run goes on as long as one of the environments takes steps") {
  CHECK(said_by_watch(1, 100, 4).empty());
  CHECK(said_by_watch(8, 100, 4).empty());
  CHECK(said_by_watch(1, 4, 2000).empty());
}

/// Drops many episodes in a moment, as an environment does that throws in each step for a while.
task<> drop_many_at_once(env_observers of) {
  for (std::size_t i = 0; i < 1000; ++i) of.failed({.id = env, .message = "it throws"});
  co_await sleep_for(10s);
  of.stepped(1);
  co_await sleep_for(1000s);
}

TEST_CASE("failing environment: many failures in a moment do not end a run") {
  troupe::system sys({.deterministic = true, .seed = 1});
  const auto observers = observers_of(training_metrics(sys.metrics(), env), env);
  std::vector<task<>> either;
  either.push_back(watch_environments(sys.metrics(), {}, {.id = env}));
  either.push_back(drop_many_at_once(observers));
  CHECK_NOTHROW(sys.run(any(std::move(either))));
}

/// Lets a rollout of each of `replicas` fail in every `period`, and an environment take a step
/// after every `step_every` of these.
task<> fail_rollouts(training_metrics metrics, int replicas, std::chrono::milliseconds period,
                     int times, int step_every) {
  for (int time = 1; time <= times; ++time) {
    co_await sleep_for(period);
    for (int i = 0; i < replicas; ++i) metrics.rollout_failed("its reset took longer than 60 s");
    if (time % step_every == 0) metrics.env_stepped(1);
  }
}

struct failing_rollouts {
  int replicas = 1;
  std::chrono::milliseconds period = 239400ms, reset_timeout = 60s;
  int times = 20, step_every = 2000;
};

/// What the watch says while rollouts fail; empty if it says nothing.
std::string said_of_rollouts(failing_rollouts how) {
  troupe::system sys({.deterministic = true, .seed = 1});
  const training_metrics metrics(sys.metrics(), env);
  std::vector<task<>> either;
  either.push_back(watch_environments(sys.metrics(), metrics,
                                      {.id = env,
                                       .count = 32,
                                       .replicas = static_cast<std::size_t>(how.replicas),
                                       .reset_timeout = how.reset_timeout}));
  either.push_back(fail_rollouts(metrics, how.replicas, how.period, how.times, how.step_every));
  try {
    sys.run(any(std::move(either)));
  } catch (const environment_failed& e) {
    return e.what();
  }
  return {};
}

TEST_CASE("failing environment: a run whose resets hang ends after two failed rollouts of each") {
  CHECK(said_of_rollouts({}) ==
        "Hanging-v0: 2 rollouts have failed, and no environment has taken a step in 479 s: its "
        "reset took longer than 60 s");
  CHECK(said_of_rollouts({.replicas = 4}) ==
        "Hanging-v0: 8 rollouts have failed, and no environment has taken a step in 479 s: its "
        "reset took longer than 60 s");
  // In Python a rollout fails after one reset, and a short limit has its 20 s, too.
  CHECK(said_of_rollouts({.period = 59s}).find("5 rollouts have failed") != std::string::npos);
  CHECK(said_of_rollouts({.period = 2s, .reset_timeout = 2s}).find("step in 20 s") !=
        std::string::npos);
}

TEST_CASE("failing environment: rollouts that fail while others take steps do not end a run") {
  CHECK(said_of_rollouts({.period = 200s, .step_every = 2}).empty());
  CHECK(said_of_rollouts({.times = 1}).empty());
  // A server that is away for some minutes, whose connections are refused at once.
  CHECK(said_of_rollouts({.period = 10s, .times = 29}).empty());
}

}  // namespace
}  // namespace troupe
