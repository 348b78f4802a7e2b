// What grows with the number of services, replicas and calls: each figure is one that a cost per
// item which grows with their number would spoil. CPU time of this process, medians of three.
//
//   service_churn_last_over_first  10,000 services opened, called and stopped one after another:
//                                  the last 1,000 over the first 1,000
//   service_churn_grown_kib        that the process grew by after the first 1,000
//   start_16k_replicas_cpu_s       16,000 replicas until all serve
//   cancel_100k_calls_s            100,000 coroutine calls at work given up, until the replica's
//                                  next answer: wall time
//   sleeping_call_us_512, _30k     a call of a coroutine that sleeps, beside so many others
//   threads_20k_end_s              20,000 replicas on threads of their own, from SIGTERM to the
//                                  program's end: wall time
//
// The same in a table, as a record (scale_record.cpp): routed calls by replicas and callers,
// processes, and nodes. bench_scale [--json] [threads] [churn] [start] [cancel] [sleep] [record]:
// those parts, or all.

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/base/log.hpp"
#include "runtime/metrics/registry.hpp"
#include "runtime/system/child_process.hpp"
#include "runtime/system/run.hpp"
#include "runtime/system/system.hpp"
#include "tests/bench/scale_record.hpp"
#include "tests/bench/two_clocks.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;

constexpr int rounds = 3;

struct worker {
  int add(int n) { return total += n; }
  task<> nap(duration pause) {
    ++begun;
    co_await sleep_for(pause);
    ++woken;
  }
  int begun_so_far() { return begun; }
  int woken_so_far() { return woken; }
  int total = 0, begun = 0, woken = 0;
};

void expect(const char* what, double expected, double got) {
  if (expected == got) return;
  throw std::runtime_error(std::string(what) + ": expected " + std::to_string(expected) + ", got " +
                           std::to_string(got));
}

double resident_kib() {
  long pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1024;
}

double wall_now() { return detail::now(CLOCK_MONOTONIC); }

// ---- services opened and stopped

struct churn {
  double last_over_first = 0, grown_kib = 0;
};

task<churn> churn_services(system& sys) {
  constexpr int services = 10'000, tenth = services / 10;
  double first = 0, last = 0, resident = 0;
  int answered = 0;
  for (int i = 0; i < services; ++i) {
    const double began = detail::cpu_seconds();
    {
      const auto one = co_await sys.serve<worker>({.name = "service-" + std::to_string(i)});
      answered += co_await one.route<&worker::add>(1);
      sys.stop(one);
    }
    const double took = detail::cpu_seconds() - began;
    if (i < tenth) first += took;
    if (i >= services - tenth) last += took;
    if (i == tenth) resident = resident_kib();
  }
  expect("churn: calls answered", services, answered);
  const double grown = resident_kib() - resident;
  const double before = detail::cpu_seconds();
  const auto bytes = sys.metrics().text().size();
  std::printf("services: %d, %.0f and %.0f us each at first and at last, a scrape %.1f ms, %zu B\n",
              answered, first / tenth * 1e6, last / tenth * 1e6,
              (detail::cpu_seconds() - before) * 1e3, bytes);
  co_return churn{last / first, grown};
}

// ---- many replicas

task<double> start_replicas(system& sys, std::size_t replicas) {
  const double began = detail::cpu_seconds();
  const auto all = co_await sys.serve<worker>({.name = "many", .replicas = replicas});
  const double took = detail::cpu_seconds() - began;
  const auto totals = co_await all.fanout<&worker::add>(1);
  expect("replicas that answer", static_cast<double>(replicas), static_cast<double>(totals.size()));
  co_return took;
}

// ---- many calls

serve_options holds(std::size_t calls) {
  return {.name = "naps", .max_queued = calls + 64, .max_ongoing = calls + 64};
}

task<> nap_once(service<worker> at, duration pause) { co_await at.route<&worker::nap>(pause); }

task<> begin_naps(group& calls, service<worker> at, int count, double* began) {
  for (int i = 0; i < count; ++i) calls.start(nap_once(at, 1h));
  int begun = 0;
  while (begun < count) {
    co_await sleep_for(1ms);
    begun = co_await at.route<&worker::begun_so_far>();
  }
  *began = wall_now();
}

task<double> cancel_calls(system& sys, int count) {
  const auto at = co_await sys.serve<worker>(holds(static_cast<std::size_t>(count)));
  double began = 0;
  co_await with_group(begin_naps, at, count, &began);
  const int woken = co_await at.route<&worker::woken_so_far>();
  const double took = wall_now() - began;
  expect("naps that ended", 0, woken);
  const auto cancelled = co_await at.route<&worker::begun_so_far>();
  expect("naps begun", count, cancelled);
  co_return took;
}

task<> nap_often(service<worker> at, int times) {
  for (int i = 0; i < times; ++i) co_await at.route<&worker::nap>(duration(1ms));
}

task<double> sleeping_call(system& sys, int beside) {
  constexpr int at_least = 120'000;
  const int times = at_least / beside;
  const auto at = co_await sys.serve<worker>(holds(static_cast<std::size_t>(beside)));
  std::vector<task<>> callers;
  for (int i = 0; i < beside; ++i) callers.push_back(nap_often(at, times));
  const double began = detail::cpu_seconds();
  co_await all(std::move(callers));
  const double took = detail::cpu_seconds() - began;
  const int woken = co_await at.route<&worker::woken_so_far>();
  expect("naps that ended", beside * times, woken);
  co_return took / (static_cast<double>(beside) * times);
}

// ---- replicas on threads

constexpr std::size_t threads = 20'000;
int ready_at = -1;  ///< Where the program says that its replicas serve.

task<> hold_threads(system& sys) {
  const auto all = co_await sys.serve<worker>(
      {.name = "threads", .replicas = threads, .placement = placement::thread});
  const auto totals = co_await all.fanout<&worker::add>(1);
  expect("threads that answer", threads, static_cast<double>(totals.size()));
  if (write(ready_at, "r", 1) != 1) throw std::runtime_error("threads: nobody listens");
  co_await sleep_for(duration::max());
}

/// In a process of its own, which must have no threads before.
double end_threads() {
  int way[2];
  if (pipe(way) != 0) throw std::runtime_error("threads: no pipe");
  std::fflush(nullptr);
  const auto program = fork();
  if (program == 0) {
    close(way[0]);
    ready_at = way[1];
    std::string name = "scale", off = "--metrics-port=0", quiet = "--log-level=error";
    char* argv[] = {name.data(), off.data(), quiet.data(), nullptr};
    std::exit(run(3, argv, hold_threads));
  }
  close(way[1]);
  char ready = 0;
  const bool serves = read(way[0], &ready, 1) == 1;
  close(way[0]);
  const double began = wall_now();
  kill(program, serves ? SIGTERM : SIGKILL);
  int status = 0;
  waitpid(program, &status, 0);
  const double took = wall_now() - began;
  if (!serves) throw std::runtime_error("threads: the program ended before its replicas served");
  std::printf("threads: %zu, ended with code %d after %.2f s\n", threads,
              WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), took);
  return took;
}

// ---- all of it

template <class F>
double median_of(const char* what, double factor, F measure) {
  std::vector<double> values;
  for (int i = 0; i < rounds; ++i) {
    system sys;
    values.push_back(sys.run(measure(sys)) * factor);
  }
  const double median = detail::series::median(values);
  std::printf("%-40s %10.3f (best %.3f)\n", what, median, detail::series::best(values));
  std::fflush(stdout);
  return median;
}

nlohmann::json measure_all(const std::vector<std::string>& only) {
  const auto wanted = [&](const char* part) {
    return only.empty() || std::find(only.begin(), only.end(), part) != only.end();
  };
  nlohmann::json figures;
  if (wanted("threads")) {
    std::vector<double> ends;
    for (int i = 0; i < rounds; ++i) ends.push_back(end_threads());
    figures["threads_20k_end_s"] = detail::series::median(ends);
  }
  if (wanted("churn")) {
    std::vector<double> ratios, grown;
    for (int i = 0; i < rounds; ++i) {
      system sys;
      const auto one = sys.run(churn_services(sys));
      ratios.push_back(one.last_over_first);
      grown.push_back(one.grown_kib);
    }
    figures["service_churn_last_over_first"] = detail::series::median(ratios);
    figures["service_churn_grown_kib"] = detail::series::median(grown);
    std::printf("services, last over first: %.3f; grown by %.0f KiB\n",
                detail::series::median(ratios), detail::series::median(grown));
  }
  if (wanted("start")) {
    median_of("1,000 replicas, CPU s", 1, [](system& sys) { return start_replicas(sys, 1000); });
    figures["start_16k_replicas_cpu_s"] = median_of(
        "16,000 replicas, CPU s", 1, [](system& sys) { return start_replicas(sys, 16'000); });
  }
  if (wanted("cancel")) {
    figures["cancel_100k_calls_s"] = median_of(
        "100,000 calls cancelled, s", 1, [](system& sys) { return cancel_calls(sys, 100'000); });
  }
  if (wanted("sleep")) {
    figures["sleeping_call_us_512"] = median_of(
        "a sleeping call beside 512, us", 1e6, [](system& sys) { return sleeping_call(sys, 512); });
    figures["sleeping_call_us_30k"] =
        median_of("a sleeping call beside 30,000, us", 1e6,
                  [](system& sys) { return sleeping_call(sys, 30'000); });
  }
  if (wanted("record")) figures["record"] = detail::record_scale();
  return figures;
}

}  // namespace
}  // namespace troupe

int main(int argc, char** argv) {
  troupe::log::set_level("error");
  if (argc > 3 && !std::strcmp(argv[1], troupe::detail::scale_node)) {
    troupe::detail::be_scale_node(argv[2], argv[3]);
  }
  troupe::detail::serve_parent_if_child();
  bool json = false;
  std::vector<std::string> only;
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--json")) {
      json = true;
    } else {
      only.emplace_back(argv[i]);
    }
  }
  const auto figures = troupe::measure_all(only);
  if (json) std::printf("%s\n", figures.dump().c_str());
}
