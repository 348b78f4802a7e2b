// What callers see of a service that is asked for five times what it can do: those that are let in
// wait no longer than its queue, those that are not hear so at once, memory is bounded, and
// afterwards all is as before.
//
//   overload_refused_p99_ms       from the call to `overloaded`
//   overload_accepted_p99_ratio   of answered calls, over the same at 80 % load
//   overload_memory_mib           that the process grew by meanwhile
//   overload_recovered_s          until the p99 of a tenth of a second is back within twice that of
//   80 % overload_control_p99_ms       of a control call to the busy service
//
// Calls come at fixed times, whether those before have ended or not. bench_overload [--seconds N]

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "runtime/system/system.hpp"
#include "tests/bench/two_clocks.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr double work_seconds = 200e-6;  ///< CPU time of one call.
constexpr int capacity = 5000;           ///< Calls a second, were there nothing but work.

struct worker {
  void work() {
    const double until = detail::now(CLOCK_THREAD_CPUTIME_ID) + work_seconds;
    while (detail::now(CLOCK_THREAD_CPUTIME_ID) < until) {
    }
  }
  int ping() { return 1; }
};

/// Milliseconds, by how the call ended.
struct latencies {
  std::vector<double> answered, refused, control;
  int other = 0;
};

double p99(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() * 99 / 100];
}

double since(clock::time_point began) {
  return std::chrono::duration<double, std::milli>(clock::now() - began).count();
}

task<> call_once(service<worker> to, latencies& seen) {
  const auto began = clock::now();
  const auto result = co_await to.try_route<&worker::work>();
  if (result.ok()) {
    seen.answered.push_back(since(began));
  } else if (is_kind(result.error(), error_kind::overloaded)) {
    seen.refused.push_back(since(began));
  } else {
    ++seen.other;
  }
}

task<> ping_once(service<worker> to, latencies& seen) {
  const auto began = clock::now();
  co_await to.with({.priority = priority::control}).route<&worker::ping>();
  seen.control.push_back(since(began));
}

task<> call_at(group& calls, service<worker> to, int per_second, double seconds, latencies& seen) {
  const auto began = clock::now();
  const auto all = static_cast<int>(per_second * seconds);
  for (int sent = 0; sent < all;) {
    const auto due = static_cast<int>(since(began) / 1000 * per_second);
    for (; sent < std::min(due, all); ++sent) calls.start(call_once(to, seen));
    calls.start(ping_once(to, seen));
    co_await sleep_for(1ms);
  }
  co_await calls.join();
}

task<latencies> load(service<worker> to, int per_second, double seconds) {
  latencies seen;
  co_await with_group(call_at, to, per_second, seconds, std::ref(seen));
  co_return seen;
}

double resident_mib() {
  long pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

task<nlohmann::json> measure_overload(system& sys, double seconds) {
  const auto served = co_await sys.serve<worker>(
      {.name = "workers", .placement = placement::thread, .max_queued = 8});
  const auto workers = served.with({.deadline = 10s, .wait = false});
  co_await load(workers, capacity / 2, 1);
  const auto usual = co_await load(workers, capacity * 8 / 10, 5);
  const double before = resident_mib();
  const auto over = co_await load(workers, capacity * 5, seconds);
  const double grown = resident_mib() - before;
  const auto ended = clock::now();
  double recovered = 0;
  for (double now = 1e9; now > 2 * p99(usual.answered) && recovered < 30;) {
    const auto after = co_await load(workers, capacity * 8 / 10, 0.1);
    now = p99(after.answered);
    recovered = since(ended) / 1000;
  }
  std::printf("%-20s %10s %10s %10s %14s %14s %14s\n", "load", "answered", "refused", "other",
              "answered p99", "refused p99", "control p99");
  for (const auto& [name, of] : {std::pair("80 %", &usual), std::pair("500 %", &over)}) {
    std::printf("%-20s %10zu %10zu %10d %11.3f ms %11.3f ms %11.3f ms\n", name, of->answered.size(),
                of->refused.size(), of->other, p99(of->answered), p99(of->refused),
                p99(of->control));
  }
  std::printf("grown by %.1f MiB, recovered after %.1f s\n", grown, recovered);
  co_return nlohmann::json{
      {"overload_refused_p99_ms", p99(over.refused)},
      {"overload_refused_max_ms", *std::max_element(over.refused.begin(), over.refused.end())},
      {"overload_accepted_p99_ratio", p99(over.answered) / p99(usual.answered)},
      {"overload_other", over.other},
      {"overload_control_p99_ms", p99(over.control)},
      {"overload_memory_mib", grown},
      {"overload_recovered_s", recovered}};
}

}  // namespace
}  // namespace troupe

int main(int argc, char** argv) {
  double seconds = 30;
  bool json = false;
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--json")) json = true;
    if (!std::strcmp(argv[i], "--seconds") && i + 1 < argc) seconds = std::atof(argv[++i]);
  }
  troupe::system sys;
  const auto result = sys.run(troupe::measure_overload(sys, seconds));
  if (json) std::printf("%s\n", result.dump().c_str());
}
