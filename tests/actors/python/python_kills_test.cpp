// Python processes are killed under load. `./dev chaos --python` kills a thousand.

#include <signal.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>

#include "actors/environments/hosted_environment.hpp"
#include "actors/worlds/registry.hpp"
#include "runtime/coroutine/combine.hpp"
#include "runtime/system/system.hpp"
#include "tests/child_processes.hpp"
#include "tests/eventually.hpp"
#include "tests/paths.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t replicas = 4, each = 2;

int kills_wanted() {
  const char* told = std::getenv("TROUPE_PYTHON_KILLS");
  return told ? std::atoi(told) : 20;
}

struct counts {
  std::atomic<int> kills = 0, lost_episodes = 0, lost_steps = 0;
  std::atomic<std::int64_t> steps = 0;
  std::atomic<bool> done = false;
};

std::vector<pid_t> python_processes() {
  auto all = testing::own_children();
  std::erase_if(all, [](pid_t process) {
    return testing::file_of(process, "cmdline").find("troupe_worker") == std::string::npos;
  });
  return all;
}

std::size_t open_files() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

std::size_t shared_segments() {
  std::ifstream maps("/proc/self/maps");
  std::size_t found = 0;
  for (std::string line; std::getline(maps, line);)
    found += line.find("troupe-python") != line.npos;
  return found;
}

std::size_t resident_mb() {
  std::ifstream file("/proc/self/statm");
  std::size_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * 4096 / 1'000'000;
}

/// Kills processes, each after a number of steps of chance since the last kill, until so many have
/// been killed.
void kill_processes(counts& of, int wanted) {
  std::mt19937 random(7);
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60 + wanted);
  while (of.kills < wanted && std::chrono::steady_clock::now() < until) {
    const auto steps = of.steps + 1 + int(random() % 200);
    testing::eventually([&] { return of.steps >= steps; }, 5s);
    const auto alive = python_processes();
    if (alive.empty()) continue;
    if (::kill(alive[random() % alive.size()], SIGKILL) == 0) ++of.kills;
  }
  of.done = true;
}

/// Steps one replica after another until enough processes were killed.
task<> play(service<hosted_environment> envs, counts& of) {
  const auto timed = envs.with({.deadline = 60s});
  while (!of.done) {
    auto mine = co_await timed.session({.exclusive = true});
    const auto seen = co_await mine.try_route<&hosted_environment::observe>();
    if (!seen.ok()) {
      CHECK(is_kind(seen.error(), error_kind::session_lost));
      continue;
    }
    for (int step = 0; step < 200 && !of.done; ++step) {
      env_actions actions;
      actions.discrete.assign(each, 1);
      const auto after = co_await mine.try_route<&hosted_environment::step>(std::move(actions));
      if (!after.ok()) {
        CHECK(is_kind(after.error(), error_kind::session_lost));
        ++of.lost_steps;
        break;
      }
      of.steps += each;
    }
  }
}

task<> serve_and_play(system& sys, counts& of) {
  const auto make = [] {
    return make_vector_environment(
        {.id = "good:Counter", .python = {.interpreter = "/usr/bin/python3"}}, each);
  };
  auto envs = co_await sys.serve<hosted_environment>(
      {.name = "environments",
       .replicas = replicas,
       .placement = placement::thread,
       .max_restarts = 1'000'000,
       .backoff_limit = 100ms},
      hosted_environment::factory(make), std::uint64_t{1},
      env_observers{.failed = [&of](const env_failure& failure) {
        CHECK(failure.reason == env_failure_reason::lost);
        ++of.lost_episodes;
      }});
  std::vector<task<>> beside;
  for (std::size_t i = 0; i < replicas; ++i) beside.push_back(play(envs, of));
  co_await all(std::move(beside));
}

TEST_CASE("python: kills cost the episodes under way and leave nothing behind") {
  ::setenv("PYTHONPATH", testing::source_path("tests/actors/python/worlds").c_str(), 1);
  const int wanted = kills_wanted();
  counts of;
  std::size_t files = 0, memory = 0;
  const auto run = [&](int kills) {
    of.kills = 0;
    of.done = false;
    std::jthread killer([&] { kill_processes(of, kills); });
    system sys({.threads = 2});
    sys.run(serve_and_play(sys, of));
  };
  const auto wait_for_ends = [] {
    CHECK(testing::eventually([] { return python_processes().empty(); }, 10s));
  };
  run(2);  // what the first use makes once is there now
  wait_for_ends();
  files = open_files();
  memory = resident_mb();
  of.lost_episodes = of.lost_steps = 0;
  run(wanted);
  wait_for_ends();
  CHECK(of.kills == wanted);
  CHECK(of.lost_episodes <= wanted * int(each));
  CHECK(of.lost_episodes >= of.lost_steps * int(each));
  CHECK(of.steps > wanted);
  CHECK(open_files() <= files + 4);
  CHECK(shared_segments() == 0);
  CHECK(resident_mb() <= memory + 32);
  std::printf("%d kills: %d episodes lost, %lld steps; %zu then %zu open files, %zu then %zu MB\n",
              wanted, of.lost_episodes.load(), static_cast<long long>(of.steps), files,
              open_files(), memory, resident_mb());
}

}  // namespace
}  // namespace troupe
