#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "actors/openenv/client/named_limit.hpp"
#include "actors/openenv/client/numeric_worlds.hpp"
#include "actors/worlds/check_world.hpp"
#include "algorithms/program/check_messages.hpp"
#include "algorithms/program/commands.hpp"
#include "algorithms/run/config.hpp"
#include "algorithms/run/openenv_environments.hpp"
#include "runtime/base/print_error.hpp"
#include "runtime/base/utf8.hpp"

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

/// What was found out about an environment.
struct checked {
  environment_report report;
  std::optional<openenv_view> view = {};  ///< For environments on servers.
};

/// Thrown to end the checks of a server that has not replied in time, since each further call may
/// take as long.
struct server_is_late {};

/// Passes on what is found about an environment on a server. Servers of OpenEnv need not take a
/// seed, so that another episode for the same seed is no fault. Throws server_is_late.
class server_findings final : public check_listener {
 public:
  explicit server_findings(check_listener& to) : to_(to) {}

  void begins(const environment_call& call) override { to_.begins(call); }
  void found(bool is_fault, environment_finding what) override {
    const bool by_seed = what.check == "determinism" || what.check == "instances";
    if (is_fault && by_seed)
      what.expected += " (a server that takes no seed can't: runs differ each time)";
    const bool is_late = what.got.find(openenv::late_reply) != what.got.npos ||
                         what.got.find(openenv::late_connection) != what.got.npos;
    to_.found(is_fault && !by_seed, std::move(what));
    if (!is_late) return;
    to_.skipped({"the checks after it", "the server has not replied in time"});
    throw server_is_late();
  }
  void skipped(skipped_check what) override { to_.skipped(std::move(what)); }
  void measured(environment_speed what) override { to_.measured(std::move(what)); }

 private:
  check_listener& to_;
};

/// Warns of a server on which illegal actions have ended episodes of the check. The policies of a
/// run are not told which actions are legal, either.
void warn_of_illegal_actions(openenv::ended_episodes& ended, check_listener& to) {
  if (ended.by_illegal_action == 0) return;
  ended.is_told = true;  // the report tells it
  to.found(false,
           {.check = "legal actions",
            .call = {"step"},
            .expected = "an environment that takes each of its actions, since a policy is not told "
                        "which are legal: an illegal one is not sent, and ends the episode with "
                        "the reward env.options.view.illegal_reward",
            .got = fmt::format("illegal actions, which ended {} of {} episodes of random actions",
                               ended.by_illegal_action.load(), ended.all.load())});
}

checked check(const env_section& env, const check_options& options) {
  if (!names_openenv(env.id)) return {check_world(env.request(), options)};
  const openenv_environments make{env.request(), 1};
  environment_report report(env.id, options.on_call);
  report.begins({"asking the server for its view"});
  auto view = make.view();  // throws if the server does not answer or shows no numbers
  server_findings findings(report);
  try {
    check_vector_environments([&] { return make(); }, options, findings);
  } catch (const server_is_late&) {
    // The report has it.
  }
  measure_vector_environments(
      [&](std::size_t size) { return openenv_environments{env.request(), size}(); }, options,
      report);
  warn_of_illegal_actions(*make.ended(), report);
  return {std::move(report), std::move(view)};
}

nlohmann::json json_of(const checked& what) {
  auto made = troupe::json_of(what.report);
  if (what.view) made["view"] = {{"option", what.view->option}, {"left_out", what.view->left_out}};
  return made;
}

void print(const checked& what) {
  using detail::printable_lines;  // the texts have words of the environment in them

  if (what.view) {
    std::printf("The view of the server's JSON, as an option: %s\n",
                printable_lines(what.view->option).c_str());
    for (const auto& part : what.view->left_out)
      std::printf("The view leaves out %s.\n", printable_lines(part).c_str());
  }
  std::fputs(printable_lines(to_string(what.report)).c_str(), stdout);
}

}  // namespace

int check_env(const check_env_arguments& arguments, const std::string& program) {
  try {
    const auto env = section_of(arguments);
    check_messages messages(env.id);
    const auto found = check(env, {.steps = arguments.steps,
                                   .seed = arguments.seed,
                                   .n_envs = env.n_envs,
                                   .seconds = arguments.seconds,
                                   .on_call = [&](const auto& call) { messages.begins(call); }});
    messages.end();
    if (arguments.json) {
      std::puts(
          json_of(found).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
    } else {
      print(found);
    }
    return found.report.faults().empty() ? 0 : 1;
  } catch (const std::exception& error) {
    print_error(program + " check-env", error.what());
    return 2;
  }
}

}  // namespace troupe::command
