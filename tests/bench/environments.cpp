// What a step of each built-in environment costs, in CPU nanoseconds of this process: environments
// of one vector environment under random actions, episodes' ends and resets included; median of the
// rounds.
//
//   ENVIRONMENT_1     one environment
//   ENVIRONMENT_64    64 side by side

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "actors/environments/action_numbers.hpp"
#include "actors/random/numpy_random.hpp"
#include "actors/worlds/registry.hpp"
#include "tests/bench/two_clocks.hpp"

namespace troupe {
namespace {

constexpr int rounds = 7;
constexpr double round_seconds = 0.05;

using troupe::detail::cpu_seconds;

/// Random actions for `size` environments, none outside of the space.
std::vector<env_actions> random_actions(const space& space, std::size_t size) {
  numpy_random random(3);
  const auto numbers = numbers_of(space);
  std::vector<env_actions> all(256);
  for (auto& actions : all)
    for (std::size_t i = 0; i < size; ++i) {
      for (const auto& [first, count, binary] : numbers.integers)
        actions.discrete.push_back(random.integers(first, first + count));
      for (std::size_t a = 0; a < numbers.low.size(); ++a)
        actions.continuous.push_back(
            static_cast<float>(random.uniform(double{numbers.low[a]}, double{numbers.high[a]})));
    }
  return all;
}

double nanoseconds_per_step(const std::string& id, std::size_t size) {
  const auto environments = make_vector_environment(id, size);
  auto actions = random_actions(environments->spec().action_space, size);
  environments->reset(1);
  env_step after;
  std::vector<double> each;
  for (int round = 0; round <= rounds; ++round) {  // the first is not counted
    const double from = cpu_seconds();
    double passed = 0;
    double steps = 0;
    while ((passed = cpu_seconds() - from) < round_seconds) {
      for (auto& action : actions) environments->step_into(action, after);
      steps += static_cast<double>(actions.size() * size);
    }
    if (round > 0) each.push_back(passed / steps * 1e9);
  }
  std::sort(each.begin(), each.end());
  return each[each.size() / 2];
}

int run(bool as_json) {
  nlohmann::json figures;
  for (const auto& id : known_environments())
    for (const std::size_t size : {1, 64}) {
      const double cost = nanoseconds_per_step(id, size);
      std::printf("%-28s %3zu side by side %8.0f ns a step\n", id.c_str(), size, cost);
      figures[id + "_" + std::to_string(size)] = cost;
    }
  if (as_json) std::printf("%s\n", figures.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace troupe

int main(int argc, char** argv) {
  return troupe::run(argc > 1 && std::strcmp(argv[1], "--json") == 0);
}
