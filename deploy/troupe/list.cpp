#include <cstdio>
#include <nlohmann/json.hpp>

#include "actors/env/registry.hpp"
#include "algorithms/ppo/ppo_config.hpp"
#include "deploy/troupe/commands.hpp"
#include "runtime/config/nearest_name.hpp"

namespace troupe::command {

namespace {

struct algorithm {
  const char* name;
  const char* what;
};
constexpr algorithm algorithms[] = {{"ppo", "proximal policy optimisation, sync and async"}};

}  // namespace

void require_algorithm(const std::string& algo) {
  std::vector<std::string> known;
  for (const auto& a : algorithms) known.emplace_back(a.name);
  for (const auto& name : known) {
    if (name == algo) return;
  }
  throw std::invalid_argument(unknown_name_message("algorithm", algo, known));
}

int list(const list_arguments&) {
  std::printf("algorithms\n");
  for (const auto& a : algorithms) std::printf("  %-20s %s\n", a.name, a.what);
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
    require_algorithm(arguments.algo);
  } catch (const std::invalid_argument& e) {
    std::fprintf(stderr, "troupe config: %s\n", e.what());
    return 2;
  }
  std::puts(schema_json<ppo_config>().dump(2).c_str());
  return 0;
}

}  // namespace troupe::command
