// What environments in processes of their own cost, whether they are native or guests, and those of
// several agents (worlds_spread.hpp).
//
//   env_child_pss_mb           16 children that host CartPole-v1, after a step each: the median of
//                              their proportional set sizes (Pss of /proc/PID/smaps_rollup), in MB
//   env_child_start_ms         one child, from the call of serve until its first observation has
//                              come: the median of 16 that start one after another
//   env_child_start_cpu_ms     CPU time of such a child until then, which depends less on other
//                              work
//   env_child_start_of_16_ms   16 children that start together, until all have shown their first
//                              observation: the wall time divided by 16
//
// bench_worlds [--json]

#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "actors/environments/metrics_observers.hpp"
#include "actors/worlds/environment_host.hpp"
#include "runtime/base/log.hpp"
#include "runtime/system/system.hpp"
#include "tests/bench/two_clocks.hpp"
#include "tests/bench/worlds_guests.hpp"
#include "tests/bench/worlds_spread.hpp"
#include "tests/child_processes.hpp"

namespace troupe {
namespace {

constexpr std::size_t children = 16;

double wall_now() { return detail::now(CLOCK_MONOTONIC); }

// ---- native environments in child processes

task<service<hosted_environment>> serve_cartpoles(system& sys, std::size_t replicas) {
  serve_options hosting{.name = "environments",
                        .replicas = replicas,
                        .placement = placement::process,
                        .program = environment_host()};
  const training_metrics metrics(sys.metrics(), "CartPole-v1");
  return sys.serve<hosted_environment>(
      std::move(hosting),
      hosted_environment::factory(registered_environments{.request = {.id = "CartPole-v1"}}),
      std::uint64_t{1}, observers_of(metrics, "CartPole-v1"), std::optional<double>(),
      std::size_t{1});
}

/// Returns the wall time in seconds, and adds the CPU time of each child in ms to `cpu`.
task<double> start_together(system& sys, std::size_t replicas, std::vector<double>* cpu = nullptr) {
  const double before = wall_now();
  const auto environments = co_await serve_cartpoles(sys, replicas);
  const auto seen = co_await environments.fanout<&hosted_environment::observe>();
  if (seen.size() != replicas) throw std::runtime_error("an environment is missing");
  const double took = wall_now() - before;
  if (cpu) {
    for (const auto child : testing::own_children()) cpu->push_back(detail::cpu_of(child) * 1e3);
  }
  sys.stop(environments);
  co_return took;
}

task<service<hosted_environment>> start_and_step(system& sys, std::size_t replicas) {
  const auto environments = co_await serve_cartpoles(sys, replicas);
  const env_actions left{.discrete = {0}, .continuous = {}};
  co_await environments.fanout<&hosted_environment::step>(left);
  co_return environments;
}

/// The proportional set size of a process, in MB of 1e6 bytes.
double pss_mb(pid_t process) {
  std::istringstream file(testing::file_of(process, "smaps_rollup"));
  std::string name;
  for (double value = 0; file >> name;) {
    if (name == "Pss:" && file >> value) return value * 1024 / 1e6;
  }
  throw std::runtime_error(fmt::format("process {} has no Pss in smaps_rollup", process));
}

double median_pss_mb(std::size_t expected) {
  const auto processes = testing::own_children();
  if (processes.size() != expected) {
    throw std::runtime_error(
        fmt::format("expected {} child processes, got {}", expected, processes.size()));
  }
  std::vector<double> each;
  for (const auto process : processes) each.push_back(pss_mb(process));
  return detail::series::median(each);
}

}  // namespace

void measure_children(nlohmann::json& figures) {
  if (environment_host().empty()) throw std::runtime_error("there is no env-host");
  const auto tell = [&](const char* name, double value, const char* what) {
    std::printf("%-26s %8.2f  %s\n", name, value, what);
    std::fflush(stdout);
    figures[name] = value;
  };
  {
    system sys;
    const auto environments = sys.run(start_and_step(sys, children));
    tell("env_child_pss_mb", median_pss_mb(children), "MB a child, of 16");
  }
  std::vector<double> alone, cpu, together;
  for (std::size_t i = 0; i < children; ++i) {
    system sys;
    alone.push_back(sys.run(start_together(sys, 1, &cpu)) * 1e3);
  }
  tell("env_child_start_ms", detail::series::median(alone), "ms a child that starts alone");
  tell("env_child_start_cpu_ms", detail::series::median(cpu), "ms of CPU of such a child");
  for (int round = 0; round < 5; ++round) {
    system sys;
    together.push_back(sys.run(start_together(sys, children)) * 1e3 / children);
  }
  tell("env_child_start_of_16_ms", detail::series::median(together),
       "ms a child, of 16 that start together");
}

}  // namespace troupe

int main(int argc, char** argv) {
  troupe::log::set_level("error");
  nlohmann::json figures;
  troupe::measure_children(figures);
  troupe::measure_spread(figures);
  troupe::measure_guests(figures);
  if (argc > 1 && !std::strcmp(argv[1], "--json")) std::printf("%s\n", figures.dump().c_str());
}
