// Sessions and restarts by the hundred thousand, with deadlines of four hours that never pass: what
// a call, a session or a replica that has ended leaves behind would stay until its deadline.

#include <malloc.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/base/log.hpp"
#include "runtime/coroutine/combine.hpp"
#include "runtime/coroutine/sleep.hpp"
#include "runtime/service/service.hpp"
#include "runtime/system/system.hpp"
#include "tests/chaos/process_figures.hpp"

namespace troupe::chaos {
namespace {

using namespace std::chrono_literals;

constexpr duration far_deadline = 4h;
/// Sessions that are played at once.
constexpr std::int64_t players = 8;
constexpr int tenths = 10;
/// What the memory in the end may be, as a multiple of that after a tenth of the work.
constexpr double growth_max = 1.05;
constexpr double end_seconds_max = 10;

/// What sessions are played on.
struct room {
  int visit(int n) { return n + 1; }
  task<int> wait(int n) {
    co_await sleep_for(duration(0));
    co_return n;
  }
};

/// Dies when it is told to.
class mortal {
 public:
  mortal() { ++made; }
  int live() { return 1; }
  /// Sleeps when the replica dies.
  task<int> linger() {
    co_await sleep_for(far_deadline);
    co_return 0;
  }
  void die() { throw fatal("told to"); }

  static inline std::atomic<std::int64_t> made{0};
};

/// Something else ends before four hours have passed.
task<int> never() {
  co_await sleep_for(far_deadline);
  co_return 0;
}

task<int> visit(const session<room>& of) { co_return co_await of.route<&room::visit>(1); }
task<int> wait(const session<room>& of) { co_return co_await of.route<&room::wait>(2); }

task<> play(service<room> rooms, std::int64_t times) {
  for (std::int64_t i = 0; i < times; ++i) {
    auto mine = co_await rooms.with({.deadline = far_deadline}).session({.exclusive = i % 2 == 0});
    (void)co_await with_timeout(visit(mine), far_deadline);
    (void)co_await any(wait(mine), never());
  }
}

task<> play_all(service<room> rooms, std::int64_t sessions) {
  std::vector<task<>> all_players;
  for (std::int64_t i = 0; i < players; ++i) {
    all_players.push_back(play(rooms, sessions / players + (i < sessions % players ? 1 : 0)));
  }
  co_await all(std::move(all_players));
}

task<int> linger(const service<mortal>& at) {
  (void)co_await at.try_route<&mortal::linger>();
  co_return 0;
}

task<int> kill(const service<mortal>& which) {
  (void)co_await which.try_route<&mortal::die>();
  co_return 0;
}

task<> restart_often(service<mortal> mortals, std::int64_t restarts) {
  for (std::int64_t i = 0; i < restarts; ++i) {
    (void)co_await any(linger(mortals), kill(mortals));
    (void)co_await mortals.with({.deadline = far_deadline}).route<&mortal::live>();
  }
}

process_figures settled_figures() {
  ::malloc_trim(0);  // What is freed is not held.
  return read_process_figures();
}

struct figures {
  process_figures at_a_tenth, at_the_end;
};

task<figures> endure(system& sys, std::int64_t sessions, std::int64_t restarts) {
  const auto rooms =
      co_await sys.serve<room>({.name = "rooms", .replicas = 4, .deadline = far_deadline});
  const auto mortals = co_await sys.serve<mortal>({.name = "mortals",
                                                   .deadline = far_deadline,
                                                   .max_restarts = 1'000'000'000,
                                                   .backoff = 1ms,
                                                   .backoff_limit = 1ms,
                                                   .idempotent = {endpoint<&mortal::live>}});
  figures seen;
  for (int tenth = 0; tenth < tenths; ++tenth) {
    co_await all(play_all(rooms, sessions / tenths), restart_often(mortals, restarts / tenths));
    if (tenth == 0) seen.at_a_tenth = settled_figures();
  }
  seen.at_the_end = settled_figures();
  co_return seen;
}

int run(std::int64_t sessions, std::int64_t restarts, bool json) {
  log::set_level("off");  // Each death is an error.
  using clock = std::chrono::steady_clock;
  const auto began = clock::now();
  clock::time_point played;
  figures seen;
  {
    system sys;
    seen = sys.run(endure(sys, sessions, restarts));
    played = clock::now();
  }
  const auto seconds = [](clock::duration d) { return std::chrono::duration<double>(d).count(); };
  const double play_seconds = seconds(played - began), end_seconds = seconds(clock::now() - played);
  const auto& [first, last] = seen;
  const double growth =
      static_cast<double>(last.resident_bytes) / static_cast<double>(first.resident_bytes);
  std::printf(
      "%lld sessions and %lld restarts (%lld replicas made), with deadlines of 4 h, took %.1f s\n"
      "resident memory: %.1f MB at 10 %%, %.1f MB at 100 %% (%.3f times, at most %.2f)\n"
      "descriptors: %lld and %lld; threads: %lld and %lld\n"
      "the system ended in %.2f s (at most %.0f)\n",
      static_cast<long long>(sessions), static_cast<long long>(restarts),
      static_cast<long long>(mortal::made), play_seconds,
      static_cast<double>(first.resident_bytes) / 1e6,
      static_cast<double>(last.resident_bytes) / 1e6, growth, growth_max,
      static_cast<long long>(first.descriptors), static_cast<long long>(last.descriptors),
      static_cast<long long>(first.threads), static_cast<long long>(last.threads), end_seconds,
      end_seconds_max);
  const bool restarted = mortal::made >= restarts / tenths * tenths;
  const bool holds = restarted && growth <= growth_max && last.descriptors <= first.descriptors &&
                     last.threads <= first.threads && end_seconds <= end_seconds_max;
  std::printf("%s\n", holds ? "endurance: it holds" : "endurance: IT DOES NOT HOLD");
  if (json) {
    std::printf("%s\n", nlohmann::json{{"sessions", sessions},
                                       {"restarts", restarts},
                                       {"resident_bytes_at_a_tenth", first.resident_bytes},
                                       {"resident_bytes_at_the_end", last.resident_bytes},
                                       {"seconds", play_seconds},
                                       {"end_seconds", end_seconds},
                                       {"holds", holds}}
                            .dump()
                            .c_str());
  }
  return holds ? 0 : 1;
}

}  // namespace
}  // namespace troupe::chaos

int main(int argc, char** argv) {
  CLI::App app(
      "Many sessions and restarts, with deadlines that never pass: memory must stay flat.");
  std::int64_t sessions = 500'000, restarts = 5'000;
  bool json = false;
  app.add_option("--sessions", sessions, "The number of sessions.")->check(CLI::Range(10, 1 << 30));
  app.add_option("--restarts", restarts, "The number of restarts.")->check(CLI::Range(10, 1 << 30));
  app.add_flag("--json", json, "End with one JSON object.");
  CLI11_PARSE(app, argc, argv);
  return troupe::chaos::run(sessions, restarts, json);
}
