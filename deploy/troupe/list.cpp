#include <cstdio>
#include <nlohmann/json.hpp>

#include "actors/env/registry.hpp"
#include "deploy/troupe/algorithms.hpp"
#include "deploy/troupe/commands.hpp"

namespace troupe::command {

int list(const list_arguments&) {
  std::printf("algorithms\n");
  for (const auto& a : algorithms()) std::printf("  %-20s %s\n", a.name, a.what);
  std::printf("environments\n");
  for (const auto& id : known_environments()) {
    const auto spec = make_vector_environment(id, 1)->spec();
    std::printf("  %-20s %s -> %s\n", id.c_str(), to_string(spec.observation_space).c_str(),
                to_string(spec.action_space).c_str());
  }
  return 0;
}

int config_schema(const config_arguments& arguments) {
  try {
    std::puts(find_algorithm(arguments.algo).schema().dump(2).c_str());
    return 0;
  } catch (const std::invalid_argument& e) {
    std::fprintf(stderr, "troupe config: %s\n", e.what());
    return 2;
  }
}

}  // namespace troupe::command
