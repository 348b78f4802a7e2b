#include "tests/bench/openenv_client.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "actors/openenv/client/client.hpp"
#include "runtime/coroutine/combine.hpp"
#include "runtime/coroutine/sleep.hpp"
#include "runtime/metrics/registry.hpp"
#include "runtime/system/system.hpp"
#include "tests/actors/openenv/client/fake_server.hpp"
#include "tests/bench/two_clocks.hpp"

namespace troupe::openenv {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

constexpr int measured_steps = 64'000;  // in each run
constexpr int runs = 5;
constexpr int held_sessions = 1000;

/// Answers at once, with an observation of CartPole's size.
void serve_fast(fake_connection& to) {
  const auto reply =
      reply_text(reply_kind::observation,
                 {{"observation", {{"state", {0.0273956, -0.00611216, 0.03585979, 0.0197368}}}},
                  {"reward", 1.0},
                  {"done", false}});
  // Each differs from the one before: two alike would be looked into.
  std::string with_number = reply;
  with_number.insert(with_number.size() - 1, ",\"metadata\":{\"step\":000000}");
  const auto digits = with_number.find("000000");
  for (int step = 0; !to.receive().empty(); ++step) {
    auto number = std::to_string(1'000'000 + step % 1'000'000).substr(1);
    number[0] = number[0] == '0' ? '1' : number[0];
    with_number.replace(digits, 6, number);
    to.send_text(with_number);
  }
}

using troupe::detail::cpu_seconds;

task<std::int64_t> play(client games, int steps) {
  auto game = games.open();
  const json action{{"action", 1}};
  co_await game.reset();
  for (int i = 0; i < steps; ++i) co_await game.step(action);
  co_return steps;
}

struct cost {
  double cpu_us, steps_per_second;
};

cost cost_of(system& sys, const client& games, int sessions) {
  std::vector<task<std::int64_t>> all_sessions;
  for (int i = 0; i < sessions; ++i) all_sessions.push_back(play(games, measured_steps / sessions));
  const auto began = std::chrono::steady_clock::now();
  const double before = cpu_seconds();
  std::int64_t steps = 0;
  for (const auto taken : sys.run(all(std::move(all_sessions)))) steps += taken;
  const double cpu = cpu_seconds() - before;
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - began;
  return {1e6 * cpu / static_cast<double>(steps), static_cast<double>(steps) / wall.count()};
}

/// One session's part; returns its errors.
task<std::int64_t> hold(client games, int index, std::chrono::steady_clock::time_point until) {
  auto game = games.open();
  const json action{{"action", 1}};
  std::int64_t errors = 0;
  bool playing = false;
  co_await sleep_for(std::chrono::milliseconds(index));
  while (std::chrono::steady_clock::now() < until) {
    try {
      if (!playing) co_await game.reset();
      playing = true;
      co_await game.step(action);
    } catch (const error& e) {
      if (++errors == 1) std::fprintf(stderr, "session %d: %s\n", index, e.what());
      playing = false;
    }
    co_await sleep_for(1s);
  }
  co_return errors;
}

}  // namespace

server_process::server_process() {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("cannot make a pipe");
  pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    fake_server server({.session = serve_fast, .http = {}});
    const auto port = server.port();
    if (::write(ends[1], &port, sizeof port) != sizeof port) _exit(1);
    for (;;) ::pause();
  }
  std::uint16_t port = 0;
  if (pid < 0 || ::read(ends[0], &port, sizeof port) != sizeof port)
    throw std::runtime_error("the server did not start");
  ::close(ends[0]);
  ::close(ends[1]);
  url = "http://127.0.0.1:" + std::to_string(port);
}

server_process::~server_process() {
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}

void measure_client(const server_process& server, json& results) {
  for (const int sessions : {1, 32}) {
    std::vector<double> cpu, speed;
    for (int run = 0; run < runs; ++run) {
      troupe::system sys({.threads = 1});
      const client games({.urls = {server.url}}, &sys.metrics());
      const auto cost = cost_of(sys, games, sessions);
      cpu.push_back(cost.cpu_us);
      speed.push_back(cost.steps_per_second);
    }
    std::ranges::sort(cpu);
    std::ranges::sort(speed);
    std::printf("  %2d sessions: CPU %.1f us a step (%.1f to %.1f), %.0f steps/s\n", sessions,
                cpu[runs / 2], cpu.front(), cpu.back(), speed[runs / 2]);
    results[sessions == 1 ? "client_cpu_us_per_step_1_session" : "client_cpu_us_per_step"] =
        cpu[runs / 2];
  }
}

void hold_sessions(const server_process& server, int seconds, json& results) {
  troupe::system sys({.threads = 1});
  const client games({.urls = {server.url}}, &sys.metrics());
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  std::vector<task<std::int64_t>> all_sessions;
  for (int i = 0; i < held_sessions; ++i) all_sessions.push_back(hold(games, i, until));
  const double before = cpu_seconds();
  std::int64_t errors = 0;
  for (const auto of_one : sys.run(all(std::move(all_sessions)))) errors += of_one;
  std::printf("  %d sessions held for %d s: %lld errors, %.2f s of CPU\n", held_sessions, seconds,
              static_cast<long long>(errors), cpu_seconds() - before);
  results["held_sessions"] = held_sessions;
  results["held_seconds"] = seconds;
  results["held_errors"] = errors;
}

}  // namespace troupe::openenv
