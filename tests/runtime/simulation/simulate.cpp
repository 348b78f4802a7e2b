// Plays the workloads of many seeds and names the first that breaks an invariant of the runtime.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "runtime/base/log.hpp"
#include "tests/runtime/simulation/fleet.hpp"
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

/// The number of the first seed's breach, if there is one, is in the exit code: 1.
int play_all(std::uint64_t from, std::uint64_t count, const std::string& spec,
             const std::string& only) {
  using namespace troupe;
  const auto faults = fault_plan::parse(spec);
  std::map<std::string, std::uint64_t> ends;
  std::vector<timed_seed> took;
  for (auto seed = from; seed - from < count; ++seed) {
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
    if (!report.broken) continue;
    const auto number = static_cast<unsigned long long>(seed);
    std::printf("seed %llu of %s breaks \"%s\": %s\nits faults: %s\n", number, which,
                report.broken->invariant.c_str(), report.broken->detail.c_str(),
                report.faults.empty() ? "none" : report.faults.c_str());
    std::printf("run it again: ./dev simulate --seeds 1 --from %llu --faults %s --workload %s\n",
                number, spec.c_str(), which);
    print_slowest(std::move(took));
    return 1;
  }
  std::printf("%llu seeds from %llu: no invariant broken\ncalls by their end:",
              static_cast<unsigned long long>(count), static_cast<unsigned long long>(from));
  for (const auto& [how, n] : ends) {
    std::printf(" %s %llu;", how.c_str(), static_cast<unsigned long long>(n));
  }
  std::printf("\n");
  print_slowest(std::move(took));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Random workloads under injected faults, a seed after the other.");
  std::uint64_t seeds = 1000;
  std::uint64_t from = 1;
  std::string faults = "random";
  std::string only;
  bool logs = false;
  app.add_option("--seeds", seeds, "how many")->check(CLI::Range(1, 1'000'000'000));
  app.add_option("--from", from, "the first");
  app.add_option("--faults", faults, "random, or such as crash=0.001,delay=0.01:50ms");
  app.add_option("--workload", only, "services or fleet; both unless it is given")
      ->check(CLI::IsMember({"services", "fleet"}));
  app.add_flag("--log", logs, "log what happens");
  try {
    app.parse(argc, argv);
    troupe::log::set_level(logs ? "debug" : "off");
    return play_all(from, seeds, faults, only);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  } catch (const troupe::fault_plan_error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
}
