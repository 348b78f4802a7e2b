// The cost of running a Python program in a sandbox, and what hostile programs leave behind.
//
//   python_start_ms_p50          of the interpreter alone: fork, execute, `pass`, wait
//   cold_overhead_ms_p50, _p99   the same quantile of a run without sandboxes started ahead, less
//                                the interpreter's
//   warm_run_ms_p50, _p99        from the call to its answer, of `pass`, where sandboxes are
//   started
//                                ahead and calls come at fixed times, 100 ms apart
//   runs_per_s                   programs that end, one after another in each of two callers
//   unsandboxed_runs_per_s       the same by a coder with --allow-unsandboxed-code
//   leaked_*                     what is left after 1,000 hostile programs, and resident_ratio
//                                this process's resident memory then over that after the first 100
//   hung                         of 64 programs at once on all processors that sleep 0.2 s, those
//                                that have not ended within their limits
//
// bench_coder [--json] [--hostile N]

#include <dirent.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "actors/coder/coder.hpp"
#include "actors/sandbox/sandboxed.hpp"
#include "runtime/coroutine/combine.hpp"
#include "runtime/coroutine/sleep.hpp"
#include "runtime/system/system.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr const char* python = "/usr/bin/python3";

double since(clock::time_point began) {
  return std::chrono::duration<double, std::milli>(clock::now() - began).count();
}

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1, static_cast<std::size_t>(q * double(values.size())))];
}

double start_python() {
  const char* const words[] = {python, "-I", "-S", "-B", "-c", "pass", nullptr};
  char* const none[] = {nullptr};
  const auto began = clock::now();
  pid_t pid = 0;
  if (::posix_spawn(&pid, python, nullptr, nullptr, const_cast<char* const*>(words), none) != 0)
    throw std::runtime_error("cannot start python3");
  int status = 0;
  ::waitpid(pid, &status, 0);
  return since(began);
}

std::int64_t resident_kib() {
  std::ifstream status("/proc/self/statm");
  std::int64_t size = 0, resident = 0;
  status >> size >> resident;
  return resident * ::sysconf(_SC_PAGESIZE) / 1024;
}

std::size_t entries_of(const char* folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

/// What programs could leave on this machine.
struct traces {
  std::size_t processes = 0, files = 0, descriptors = 0, mounts = 0;

  static traces now() {
    traces t;
    for (const auto& each : std::filesystem::directory_iterator("/proc"))
      t.processes += std::isdigit(each.path().filename().c_str()[0]) != 0;
    t.files = entries_of("/tmp") + entries_of("/dev/shm");
    t.descriptors = entries_of("/proc/self/fd");
    std::ifstream mounts("/proc/self/mountinfo");
    for (std::string line; std::getline(mounts, line);) ++t.mounts;
    return t;
  }
};

constexpr const char* hostile[] = {
    "import os\nwhile True:\n  try: os.fork()\n  except OSError: pass",
    "x = []\nwhile True: x.append(bytearray(1 << 20))",
    "f = open('/tmp/big', 'wb')\nwhile True: f.write(b'x' * (1 << 20))",
    "i = 0\nwhile True:\n  open(f'/tmp/{i}', 'w').close()\n  i += 1",
    "import os\nwhile True: os.write(1, b'x' * 4096)",
    "import os\nif os.fork() == 0:\n  os.setsid()\n  while True: pass",
    "import os, signal, time\nfor s in range(1, 65):\n  try: signal.signal(s, signal.SIG_IGN)\n"
    "  except (OSError, ValueError): pass\nfor i in range(9): os.close(i) if i != 3 else None\n"
    "time.sleep(100)",
    "import os\nopen('/dev/shm/left', 'w').write('x')\nos.symlink('/etc/passwd', '/tmp/link')",
    "import os\nos.kill(-1, 9)",
    "import socket\nsocket.create_connection(('1.1.1.1', 80), 1)",
};

sandbox_options with(code_limits limits, int warm) { return {.limits = limits, .warm = warm}; }

task<std::vector<double>> times_of(service<sandboxed_python> coders, int count, duration apart) {
  std::vector<double> times;
  for (int i = 0; i < count; ++i) {
    const auto began = clock::now();
    const auto result = co_await coders.route<&sandboxed_python::run>(code_request{"pass"});
    times.push_back(since(began));
    if (!result.succeeded()) throw std::runtime_error("a program failed: " + result.errors);
    if (const auto rest = apart - (clock::now() - began); rest > 0s) co_await sleep_for(rest);
  }
  co_return times;
}

template <class Role>
task<> call_again_and_again(service<Role> coders, int count) {
  for (int i = 0; i < count; ++i) {
    const auto result = co_await coders.template route<&Role::run>(code_request{"pass"});
    if (!result.succeeded()) throw std::runtime_error("a program failed: " + result.errors);
  }
}

template <class Role>
task<double> runs_per_s(service<Role> coders) {
  constexpr int each = 100;
  const auto began = clock::now();
  co_await all(call_again_and_again(coders, each), call_again_and_again(coders, each));
  co_return 2 * each / (since(began) / 1000);
}

task<> run_hostile(service<sandboxed_python> coders, int first, int count) {
  for (int i = first; i < first + count; ++i)
    co_await coders.route<&sandboxed_python::run>(code_request{hostile[i % std::size(hostile)]});
}

task<code_result> sleep_a_little(service<sandboxed_python> coders) {
  co_return co_await coders.route<&sandboxed_python::run>(
      code_request{"import time\ntime.sleep(0.2)"});
}

task<nlohmann::json> measure(system& sys, int hostile_count) {
  std::vector<double> bare;
  for (int i = 0; i < 200; ++i) bare.push_back(start_python());
  nlohmann::json found{{"python_start_ms_p50", quantile(bare, 0.5)},
                       {"python_start_ms_p99", quantile(bare, 0.99)}};

  auto cold = co_await sys.serve<sandboxed_python>({.name = "cold"}, with({}, 0));
  const auto cold_times = co_await times_of(cold, 200, 0s);
  found["cold_overhead_ms_p50"] = quantile(cold_times, 0.5) - quantile(bare, 0.5);
  found["cold_overhead_ms_p99"] = quantile(cold_times, 0.99) - quantile(bare, 0.99);

  auto warm = co_await sys.serve<sandboxed_python>({.name = "warm"}, with({}, -1));
  co_await sleep_for(500ms);
  const auto warm_times = co_await times_of(warm, 200, 100ms);
  found["warm_run_ms_p50"] = quantile(warm_times, 0.5);
  found["warm_run_ms_p99"] = quantile(warm_times, 0.99);
  found["runs_per_s"] = co_await runs_per_s(warm);
  auto bare_coders = co_await sys.serve<coder>(
      {.name = "unsandboxed", .replicas = 2, .placement = placement::thread},
      coder_options{.allow_unsandboxed = true});
  found["unsandboxed_runs_per_s"] = co_await runs_per_s(bare_coders);

  auto targets = co_await sys.serve<sandboxed_python>(
      {.name = "hostile"}, with({.wall_s = 0.3, .cpu_s = 1, .processes = 4}, -1));
  const int at_first = std::min(100, hostile_count / 2);
  co_await run_hostile(targets, 0, at_first);
  co_await sleep_for(1s);
  const auto before = traces::now();
  const auto resident = resident_kib();
  co_await run_hostile(targets, at_first, hostile_count - at_first);
  co_await sleep_for(1s);
  const auto after = traces::now();
  const auto more = [](std::size_t now, std::size_t then) { return now > then ? now - then : 0; };
  found["hostile_programs"] = hostile_count;
  found["leaked_processes"] = more(after.processes, before.processes);
  found["leaked_files"] = more(after.files, before.files);
  found["leaked_descriptors"] = more(after.descriptors, before.descriptors);
  found["leaked_mounts"] = more(after.mounts, before.mounts);
  found["resident_ratio"] = double(resident_kib()) / double(resident);

  std::vector<task<code_result>> at_once;
  for (int i = 0; i < 64; ++i) at_once.push_back(sleep_a_little(warm));
  const auto began = clock::now();
  int hung = 0;
  for (const auto& each : co_await all(std::move(at_once))) hung += !each.succeeded();
  found["hung"] = hung;
  found["at_once_s"] = since(began) / 1000;
  co_return found;
}

}  // namespace
}  // namespace troupe

int main(int argc, char** argv) {
  bool json = false;
  int hostile_count = 1000;
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--json")) json = true;
    if (!std::strcmp(argv[i], "--hostile") && i + 1 < argc) hostile_count = std::atoi(argv[++i]);
  }
  troupe::system sys;
  const auto found = sys.run(troupe::measure(sys, hostile_count));
  for (const auto& [name, value] : found.items())
    std::printf("%-26s %s\n", name.c_str(), value.dump().c_str());
  if (json) std::printf("%s\n", found.dump().c_str());
}
