#include "tests/bench/worlds_spread.hpp"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "actors/environments/metrics_observers.hpp"
#include "actors/random/numpy_random.hpp"
#include "actors/worlds/registry.hpp"
#include "runtime/system/system.hpp"
#include "tests/bench/two_clocks.hpp"
#include "tests/bench/worlds_guests.hpp"
#include "tests/paths.hpp"

namespace troupe {
namespace {

constexpr const char* id = "simple_spread_v3";
constexpr std::size_t worlds = 256, agents = 3;
constexpr int rounds = 7;
constexpr int calls = 4000;  // of a round

std::vector<env_actions> random_actions() {
  numpy_random random(1);
  std::vector<env_actions> all(100);
  for (auto& one : all)
    for (std::size_t i = 0; i < worlds * agents; ++i) one.discrete.push_back(random.integers(0, 5));
  return all;
}

/// Returns the steps in a CPU second of each round.
task<std::vector<double>> play(system& sys) {
  const training_metrics metrics(sys.metrics(), id);
  auto served = co_await sys.serve<hosted_environment>(
      {.name = "environments"},
      hosted_environment::factory([] { return make_vector_environment(id, worlds); }),
      std::uint64_t{1}, observers_of(metrics, id));
  const auto actions = random_actions();
  std::vector<double> speeds;
  std::size_t episodes = 0;
  for (int round = 0; round <= rounds; ++round) {  // the first is not counted
    const double before = detail::cpu_seconds();
    for (std::size_t call = 0; call < calls; ++call) {
      const auto after =
          co_await served.route<&hosted_environment::step>(actions[call % actions.size()]);
      episodes += after.finished.size();
    }
    const double passed = detail::cpu_seconds() - before;
    if (round > 0) speeds.push_back(calls * double{worlds} / passed);
  }
  constexpr std::size_t length = 25;
  if (episodes != (rounds + 1) * calls / length * worlds)
    throw std::runtime_error("simple_spread_v3: expected episodes of 25 steps");
  co_return speeds;
}

void tell(nlohmann::json& figures, const char* name, double value, const char* what) {
  std::printf("%-28s %12.0f  %s\n", name, value, what);
  std::fflush(stdout);
  figures[name] = value;
}

}  // namespace

void measure_spread(nlohmann::json& figures) {
  {
    system sys({.threads = 2});
    tell(figures, "spread_steps_per_cpu_s", detail::series::median(sys.run(play(sys))),
         "steps of simple_spread_v3 with 3 agents in a CPU second: 256 worlds in one replica, "
         "4,000 calls a round, median of 7 rounds");
  }
  try {
    auto python =
        output_of("python3 " + testing::source_path("tests/actors/worlds/mpe/package.py") + " " +
                  testing::build_folder());
    python.pop_back();  // the end of the line
    python.erase(0, python.rfind('\n') + 1);
    const auto text = output_of(python + " " + testing::source_path("tests/bench/worlds_mpe2.py"));
    tell(figures, "mpe2_spread_steps_per_cpu_s", std::stod(text),
         "the same of the Python package mpe2, one world, median of 5 rounds of 1,000 steps");
  } catch (const std::exception& error) {
    std::printf("mpe2 is left out: %s\n", error.what());
  }
}

}  // namespace troupe
