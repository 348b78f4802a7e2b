#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "actors/worlds/check_world.hpp"
#include "algorithms/program/commands.hpp"
#include "algorithms/run/config.hpp"

namespace troupe::command {

/// The part of a run's configuration that the command reads. It is in this namespace because its
/// `describe` must be beside it.
struct checked_section {
  env_section env;
};

void describe(options_schema<checked_section>& s) { s.field("env", &checked_section::env); }

namespace {

/// Reads the overrides. Throws std::invalid_argument for an option of something else, and for tasks.
environment_request request_of(const check_env_arguments& arguments) {
  const auto document = load_config("", arguments.overrides);
  auto env = parse_config<checked_section>(document).env;
  if (env.tasks)
    throw std::invalid_argument("/env/tasks: expected none, for one environment is checked");
  env.id = arguments.env;
  return env.request();
}

}  // namespace

int check_env(const check_env_arguments& arguments, const std::string& program) {
  try {
    const auto report = check_world(request_of(arguments),
                                    {.steps = arguments.steps, .seed = arguments.seed});
    if (arguments.json) {
      std::puts(json_of(report).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
    } else {
      std::fputs(to_string(report).c_str(), stdout);
    }
    return report.faults().empty() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s check-env: %s\n", program.c_str(), error.what());
    return 2;
  }
}

}  // namespace troupe::command
