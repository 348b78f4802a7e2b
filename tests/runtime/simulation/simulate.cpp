// Plays the workloads of many seeds and names the first that breaks an invariant of the runtime.

#include <sched.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "runtime/base/log.hpp"
#include "runtime/cluster/build_id.hpp"
#include "tests/runtime/simulation/fleet.hpp"
#include "tests/runtime/simulation/progress.hpp"
#include "tests/runtime/simulation/workload.hpp"

namespace {

struct workload {
  const char* name;
  troupe::simulation::report (*play)(std::uint64_t seed, const troupe::fault_plan& faults);
};
constexpr workload workloads[] = {{"services", troupe::simulation::play},
                                  {"fleet", troupe::simulation::play_fleet}};

struct timed_seed {
  double milliseconds;
  std::uint64_t seed;
};

void print_slowest(std::vector<timed_seed> seeds) {
  const auto shown = std::min<std::size_t>(seeds.size(), 10);
  std::partial_sort(seeds.begin(), seeds.begin() + static_cast<std::ptrdiff_t>(shown), seeds.end(),
                    [](const auto& a, const auto& b) { return a.milliseconds > b.milliseconds; });
  std::printf("slowest:");
  for (std::size_t i = 0; i < shown; ++i) {
    std::printf("%s seed %llu (%.0f ms)", i ? "," : "",
                static_cast<unsigned long long>(seeds[i].seed), seeds[i].milliseconds);
  }
  std::printf("\n");
}

/// Seeds that are played between two writes of the file that keeps the progress.
constexpr std::uint64_t seeds_a_write = 25;

/// Returns 1 if a seed breaks an invariant. `keep`, unless it is empty, is the file that keeps the
/// progress.
int play_all(std::uint64_t from, std::uint64_t count, const std::string& spec,
             const std::string& only, const std::string& keep) {
  using namespace troupe;
  const auto faults = fault_plan::parse(spec);
  const simulation::game game{
      .build = detail::build_id(), .faults = spec, .workload = only, .from = from};
  simulation::progress done;
  if (!keep.empty()) done = simulation::read_progress(keep, game);
  if (done.played > 0) {
    std::printf("%llu seeds from %llu have been played, by %s\n",
                static_cast<unsigned long long>(done.played), static_cast<unsigned long long>(from),
                keep.c_str());
  }
  const auto write = [&] {
    if (!keep.empty()) simulation::write_progress(keep, game, done);
  };
  std::vector<timed_seed> took;
  while (done.played < count) {
    const auto seed = from + done.played;
    std::map<std::string, std::uint64_t> ends;
    const auto start = std::chrono::steady_clock::now();
    simulation::report report;
    const char* which = "";
    for (const auto& w : workloads) {
      if (!only.empty() && only != w.name) continue;
      which = w.name;
      report = w.play(seed, faults);
      for (const auto& [how, n] : report.ends) ends[how] += n;
      if (report.broken) break;
    }
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    took.push_back({time.count(), seed});
    if (!report.broken) {
      for (const auto& [how, n] : ends) done.ends[how] += n;
      if (++done.played % seeds_a_write == 0) write();
      continue;
    }
    write();
    const auto number = static_cast<unsigned long long>(seed);
    std::printf("seed %llu of %s breaks \"%s\": %s\nits faults: %s\n", number, which,
                report.broken->invariant.c_str(), report.broken->detail.c_str(),
                report.faults.empty() ? "none" : report.faults.c_str());
    std::printf("run it again: ./dev simulate --seeds 1 --from %llu --faults %s --workload %s\n",
                number, spec.c_str(), which);
    print_slowest(std::move(took));
    return 1;
  }
  write();
  std::printf("%llu seeds from %llu: no invariant broken\ncalls by their end:",
              static_cast<unsigned long long>(done.played), static_cast<unsigned long long>(from));
  for (const auto& [how, n] : done.ends) {
    std::printf(" %s %llu;", how.c_str(), static_cast<unsigned long long>(n));
  }
  std::printf("\n");
  print_slowest(std::move(took));
  return 0;
}

/// Keeps the threads of this process on the core that it is on. A simulated system has several, of
/// which one runs at a time, and handing over to another core takes many times as long.
void stay_on_one_core() {
  const int core = ::sched_getcpu();
  if (core < 0) return;
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(core, &cores);
  if (::sched_setaffinity(0, sizeof cores, &cores) != 0) std::perror("simulate: sched_setaffinity");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Random workloads under injected faults, a seed after the other.");
  std::uint64_t seeds = 1000;
  std::uint64_t from = 1;
  std::string faults = "random";
  std::string only;
  std::string keep;
  bool logs = false;
  app.add_option("--seeds", seeds, "how many")->check(CLI::Range(1, 1'000'000'000));
  app.add_option("--from", from, "the first");
  app.add_option("--faults", faults, "random, or such as crash=0.001,delay=0.01:50ms");
  app.add_option("--workload", only, "services or fleet; both unless it is given")
      ->check(CLI::IsMember({"services", "fleet"}));
  app.add_option("--keep", keep,
                 "the file that keeps what has been played; the same command continues it");
  app.add_flag("--log", logs, "log what happens");
  try {
    app.parse(argc, argv);
    stay_on_one_core();
    troupe::log::set_level(logs ? "debug" : "off");
    return play_all(from, seeds, faults, only, keep);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  } catch (const troupe::fault_plan_error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "simulate: %s\n", e.what());
    return 2;
  }
}
