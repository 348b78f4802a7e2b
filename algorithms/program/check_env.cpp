#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "actors/worlds/check_world.hpp"
#include "algorithms/program/commands.hpp"
#include "algorithms/run/config.hpp"
#include "algorithms/run/openenv_environments.hpp"

namespace troupe::command {

/// The part of a run's configuration that the command reads. It is in this namespace because its
/// `describe` must be beside it.
struct checked_section {
  env_section env;
};

void describe(options_schema<checked_section>& s) { s.field("env", &checked_section::env); }

namespace {

/// Reads the overrides. Throws std::invalid_argument for an option of something else, and for
/// tasks.
env_section section_of(const check_env_arguments& arguments) {
  auto env = parse_config<checked_section>(load_config("", arguments.overrides)).env;
  if (env.tasks)
    throw std::invalid_argument("/env/tasks: expected none, for one environment is checked");
  env.id = arguments.env;
  return env;
}

environment_report report_of(const env_section& env, const check_options& options) {
  if (!names_openenv(env.id)) return check_world(env.request(), options);
  const openenv_environments make{env.request(), 1};
  make();  // throws if the server does not answer, which is no fault of its environment
  environment_report report(env.id);
  check_vector_environments([&] { return make(); }, options, report);
  return report;
}

}  // namespace

int check_env(const check_env_arguments& arguments, const std::string& program) {
  try {
    const auto report =
        report_of(section_of(arguments), {.steps = arguments.steps, .seed = arguments.seed});
    if (arguments.json) {
      std::puts(
          json_of(report).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
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
