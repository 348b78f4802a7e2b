#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "actors/networks/encoder_code.hpp"
#include "actors/recorder/file_io.hpp"
#include "actors/recorder/run_directory.hpp"
#include "actors/recorder/score_text.hpp"
#include "actors/torch/torch_threads.hpp"
#include "actors/worlds/registry.hpp"
#include "algorithms/program/commands.hpp"
#include "algorithms/program/context.hpp"
#include "algorithms/program/resumed_schedules.hpp"
#include "algorithms/program/verdict.hpp"
#include "algorithms/run/initial_model.hpp"
#include "algorithms/run/train.hpp"
#include "algorithms/run/trusted_run.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/print_error.hpp"
#include "runtime/metrics/registry.hpp"
#include "runtime/system/run.hpp"
#include "runtime/trace/trace_file.hpp"

namespace troupe::command {

namespace {

/// Throws std::invalid_argument if a word that is no override is an environment's name.
void refuse_names(const std::vector<std::string>& overrides) {
  const auto known = known_environments();
  for (const auto& word : overrides) {
    if (std::ranges::find(known, word) == known.end()) continue;
    throw std::invalid_argument("expected an override such as trainer.lr=3e-4, got " + word +
                                "; did you mean --env " + word + "?");
  }
}

/// The file's configuration, with the command line's options and then its overrides on top.
nlohmann::json resolve(const train_arguments& arguments) {
  refuse_names(arguments.overrides);
  std::vector<std::string> overrides;
  const auto set_number = [&](const char* path, const std::optional<std::string>& value) {
    if (value) overrides.push_back(std::string(path) + "=" + *value);
  };
  const auto set_text = [&](const char* path, const std::optional<std::string>& value) {
    if (value) overrides.push_back(std::string(path) + "=" + nlohmann::json(*value).dump());
  };
  set_text("env.id", arguments.env);
  set_text("task.name", arguments.task);
  set_number("total_steps", arguments.total_steps);
  set_number("seed", arguments.seed);
  set_text("mode", arguments.mode);
  if (arguments.deterministic) overrides.emplace_back("deterministic=true");
  if (arguments.faults) fault_plan::parse(*arguments.faults);  // throws if it is malformed
  set_text("faults", arguments.faults);
  overrides.insert(overrides.end(), arguments.overrides.begin(), arguments.overrides.end());
  return load_config(arguments.config_file, overrides);
}

/// The words of a list, each preceded by `before`, such as "--algo ppo, --algo a2c".
std::string list_of(const std::vector<std::string>& words, const std::string& before) {
  return fmt::format("{}{}", before, fmt::join(words, ", " + before));
}

bool has_option(const named_algorithm& which, const char* name) {
  return which.schema()["properties"].contains(name);
}

std::vector<std::string> algorithms_with(const char* section, const context& of) {
  std::vector<std::string> names;
  for (const auto& one : of.algorithms) {
    if (has_option(one, section)) names.push_back(one.name);
  }
  return names;
}

/// Refuses a task for an algorithm that learns on environments, and an environment for one that
/// learns tasks, with a clearer message than that of an unknown key. Throws std::invalid_argument.
void refuse_misfit(const nlohmann::json& document, const named_algorithm& which,
                   const context& of) {
  if (!document.is_object()) return;
  if (document.contains("task") && !has_option(which, "task") && of.has_tasks()) {
    throw std::invalid_argument(
        fmt::format("{} learns on an environment (--env), not on a task; for a task of a language "
                    "model say {}",
                    which.name, list_of(algorithms_with("task", of), "--algo ")));
  }
  if (document.contains("env") && !has_option(which, "env") && which.tasks.empty()) {
    throw std::invalid_argument(
        fmt::format("{} trains a language model on examples (task.data=FILE), not on an "
                    "environment; for an environment say {}",
                    which.name, list_of(algorithms_with("env", of), "--algo ")));
  }
  if (document.contains("env") && !has_option(which, "env")) {
    throw std::invalid_argument(
        fmt::format("{} trains a language model on a task, not on an environment: say --task and "
                    "one of those that `{} list` has; for an environment say {}",
                    which.name, of.program, list_of(algorithms_with("env", of), "--algo ")));
  }
}

/// Sets the program's own environment if the configuration names none.
void choose_environment(nlohmann::json& document, const named_algorithm& which, const context& of) {
  const nlohmann::json::json_pointer at("/env/id");
  if (of.environment.empty() || !document.is_object() || !has_option(which, "env")) return;
  if (document.contains("env") && !document["env"].is_object())
    return;  // refused when the configuration is read
  if (!document.contains(at)) document[at] = of.environment;
}

void print_summary(std::FILE* to, const run_summary& s, const run_labels& labels) {
  const evaluation_score score{.mean = s.eval_mean,
                               .std = s.eval_std,
                               .episodes = s.eval_episodes,
                               .threshold = s.reward_threshold};
  const int rate_decimals = s.steps_per_s > 0 && s.steps_per_s < 10 ? 2 : 0;
  fmt::print(to, "{} after {} {} in {:.1f} s ({:.{}f} {}/s): {}\n", s.env, s.steps, labels.steps,
             s.wall_s, s.steps_per_s, rate_decimals, labels.steps, verdict_of(score, labels));
  for (const auto& [name, mean] : s.eval_agents) {
    fmt::print(to, "  {}: {}\n", name, score_text(mean));
  }
  if (s.start_s > 0)
    fmt::print(to, "before that: {:.1f} s of warm start and first evaluation\n", s.start_s);
  fmt::print(to, "run directory: {}\n", s.run_directory);
}

/// What a run that was stopped has reached, for the sentence that says why it ended.
std::string achievement_of(const run_summary& s, const run_settings& settings) {
  if (s.stop_reason == "env.curriculum.stop_when_mastered") {
    return fmt::format("the last level's success rate reached {} ({})",
                       settings.env.curriculum->promote_at, s.stop_reason);
  }
  if (s.stop_reason == "env.schedule.stop_when_learned") {
    return fmt::format("each task's mean return reached its target ({})", s.stop_reason);
  }
  return "a callback stopped it";
}

/// Prints why a run was stopped, and how it can be continued if that was at its goal.
void print_stop(std::FILE* to, const run_summary& s, const run_settings& settings,
                const context& of) {
  if (!s.stopped) return;
  if (s.stop_reason != "evaluation.stop_at") {
    fmt::print(to, "training ended{} because {}\n", s.steps < settings.total_steps ? " early" : "",
               achievement_of(s, settings));
    return;
  }
  fmt::print(to, "training ended at its goal, an evaluation of at least {} (evaluation.stop_at)",
             *settings.evaluation.stop_at);
  if (settings.checkpoint.every_updates > 0) {
    fmt::print(to, "; it goes on past that with: {} train --resume {} --steps N, N {} {}",
               of.program, s.run_directory, s.steps < settings.total_steps ? "at least" : "above",
               settings.total_steps);
  }
  fmt::print(to, "\n");
}

/// The start of a new or a resumed run.
struct beginning {
  algorithm what;
  std::optional<checkpoint> from;
  std::string directory = {};  ///< The directory of a resumed run. Empty means a new run.
  std::shared_ptr<const run_lock> lock = nullptr;  ///< The lock on the directory.
};

/// What a run gets when it is resumed.
struct longer_run {
  std::string steps;     ///< The new number of steps, as typed.
  bool stretch = false;  ///< True if schedules are to be as long as the run.
  bool at_goal = false;  ///< True if the run has ended at its goal.
};

/// Gives the run more steps, also in its config.json, so that the next resumption has them. Its
/// schedules keep their length or are stretched. A run at its goal loses the goal, since it would
/// end at the next evaluation otherwise. Throws config_error if the steps are fewer than before.
algorithm lengthen(const run_directory& run, nlohmann::json document, const longer_run& by,
                   std::int64_t made, const run_permissions& may, const context& of) {
  const auto earlier = document;
  const bool at_goal = by.at_goal;
  const auto before = document.at("total_steps");
  apply_override(document, "total_steps=" + by.steps);
  if (at_goal) document.at("evaluation").at("stop_at") = nullptr;
  auto longer = of.algorithm_in(document).configure(document, may);
  auto after = nlohmann::ordered_json::parse(longer.settings.config);
  if (after.at("total_steps").get<std::int64_t>() < before.get<std::int64_t>()) {
    throw config_error("/total_steps", "expected at least the run's own " + before.dump() +
                                           ", got " + after.at("total_steps").dump());
  }
  const bool is_new_length =
      set_schedule_steps(document, earlier, nlohmann::json(after), by.stretch);
  if (is_new_length) {
    longer = of.algorithm_in(document).configure(document, may);
    after = nlohmann::ordered_json::parse(longer.settings.config);
  }
  tell_schedules(earlier, nlohmann::json(after), made);
  if (at_goal || is_new_length || after.at("total_steps") != before) {
    write_file_atomically(run.config_json(), after.dump(2) + '\n');
  }
  if (at_goal) log::info("the run goes on past its goal", {{"directory", run.path().string()}});
  return longer;
}

/// Adds the options in which two configurations differ, each with both values, such as "trainer.lr
/// is 0.0003, asked for 0.001".
void find_differences(const nlohmann::json& own, const nlohmann::json& asked,
                      const std::string& path, std::vector<std::string>& found) {
  if (own == asked) return;
  if (!own.is_object() || !asked.is_object()) {
    found.push_back(fmt::format("{} is {}, asked for {}", path, own.dump(), asked.dump()));
    return;
  }
  const auto value_of = [](const nlohmann::json& object, const std::string& key) {
    return object.contains(key) ? object[key] : nlohmann::json();
  };
  auto both = own;
  both.update(asked);
  for (const auto& [key, value] : both.items()) {
    find_differences(value_of(own, key), value_of(asked, key),
                     path.empty() ? key : path + '.' + key, found);
  }
}

/// Throws std::invalid_argument with the options in which the run differs from the requested one.
/// A larger number of steps does not count as a difference, nor do steps that were not requested.
void refuse_another_run(const run_directory& run, const run_settings& own,
                        const run_settings& asked, bool steps_asked) {
  auto before = nlohmann::json::parse(own.config);
  auto after = nlohmann::json::parse(asked.config);
  const bool further = after.at("total_steps") >= before.at("total_steps");
  if (further || !steps_asked) before["total_steps"] = after["total_steps"];
  // A run that was given a later end has the length that its schedules had before.
  if (after.contains("schedule_steps") && after["schedule_steps"].is_null())
    before["schedule_steps"] = nullptr;
  std::vector<std::string> found;
  find_differences(before, after, "", found);
  if (found.empty()) return;
  const auto path = run.path().string();
  throw std::invalid_argument(fmt::format(
      "--continue: {} is another run than what is asked for: {}; go on with it by --resume {}, or "
      "begin one without --continue or in another folder by --runs",
      path, fmt::join(found, "; "), path));
}

/// Resumes a run. `steps` is the new number of steps; none keeps the run's own. `asked` are the
/// settings that the run must have; null accepts any.
beginning resume(const run_directory& run, const train_arguments& arguments,
                 const std::optional<std::string>& steps, const run_settings* asked,
                 metrics_registry& metrics, const context& of) {
  run.config();  // throws before a folder that is no run is locked
  auto lock = std::make_shared<const run_lock>(run);
  const auto document = run.config();
  if (!arguments.trust) require_trust(run.path(), document, "--trust");
  const run_permissions may{.unsandboxed_code = arguments.allow_unsandboxed_code};
  auto what = of.algorithm_of_run(run.path(), document).configure(document, may);
  if (asked) refuse_another_run(run, what.settings, *asked, steps.has_value());
  auto from = newest_checkpoint(run.path().string(), what.settings, metrics);
  if (!from) {
    log::warn("the run has no checkpoint yet, so it begins anew", {{"run", run.path().string()}});
  }
  if (steps) {
    // With --continue the same command line starts the run each time, so it keeps its goal.
    const bool past_goal = !arguments.go_on && from && is_at_goal(*from, what.settings);
    const longer_run by{.steps = *steps,
                        .stretch = arguments.schedules.value_or("keep") == "stretch",
                        .at_goal = past_goal};
    what = lengthen(run, document, by, from ? from->step : 0, may, of);
  }
  return {std::move(what), std::move(from), run.path().string(), std::move(lock)};
}

/// Refuses overrides of a run that is resumed. Throws std::invalid_argument.
void refuse_overrides(const train_arguments& arguments) {
  if (arguments.overrides.empty()) return;
  throw std::invalid_argument(fmt::format(
      "--resume: expected no overrides, since a resumed run takes its options from {}, got {}",
      run_directory::open(arguments.resume).config_json().string(),
      fmt::join(arguments.overrides, " ")));
}

/// Makes the start of the run. Throws std::exception if the arguments, the configuration or the run
/// to resume are wrong.
beginning begin(const train_arguments& arguments, metrics_registry& metrics, const context& of) {
  const bool may_lengthen = arguments.go_on || (!arguments.resume.empty() && arguments.total_steps);
  const auto& schedules = arguments.schedules;
  if (schedules && *schedules != "keep" && *schedules != "stretch")
    throw std::invalid_argument("--schedules: expected keep or stretch, got \"" + *schedules + '"');
  if (schedules && !may_lengthen)
    throw std::invalid_argument(
        "--schedules: expected it beside --resume RUN --steps N, or --continue, as only a run that "
        "gets a later end has schedules to keep or stretch");
  if (!arguments.resume.empty()) {
    refuse_overrides(arguments);
    return resume(run_directory::open(arguments.resume), arguments, arguments.total_steps, nullptr,
                  metrics, of);
  }
  auto document = resolve(arguments);
  const auto& which = of.algorithm_in(document, arguments.algo);
  refuse_misfit(document, which, of);
  if (!arguments.init.empty() && has_option(which, "model")) {
    const auto last = std::filesystem::path(arguments.init) / "last_model";
    throw std::invalid_argument(
        fmt::format("--init: {} begins with a language model: say model.path={} if that is one",
                    which.name, std::filesystem::exists(last) ? last.string() : arguments.init));
  }
  choose_environment(document, which, of);
  if (which.complete) which.complete(document);
  auto what = which.configure(document, {.unsandboxed_code = arguments.allow_unsandboxed_code});
  what.check();
  if (arguments.go_on) {
    const auto& settings = what.settings;
    const auto newest = run_directory::newest(arguments.runs, settings.algo, settings.env.id);
    // A run that was killed before it had written its configuration can't be resumed.
    if (newest && std::filesystem::exists(newest->config_json())) {
      std::optional<std::string> steps;
      if (document.contains("total_steps")) steps = document["total_steps"].dump();
      return resume(*newest, arguments, steps, &settings, metrics, of);
    }
  }
  if (what.check_weights) what.check_weights();
  if (!arguments.init.empty()) {
    load_encoder(what.settings.network.encoder);
    what.settings.init = read_initial_model(arguments.init);
    require_initial_model(what);
  }
  return {.what = std::move(what), .from = std::nullopt};
}

/// Refuses an address for nodes that can't be listened at. Throws std::invalid_argument.
void check_listen(const train_arguments& arguments) {
  if (arguments.listen.empty()) return;
  try {
    check_listener(arguments.listen, arguments.certs);
  } catch (const std::exception& e) {
    throw std::invalid_argument(std::string("--listen: ") + e.what());
  }
}

/// Refuses a configuration that places replicas on nodes where none can join, and an address for
/// nodes of a deterministic run. Throws std::invalid_argument.
void refuse_nodes_that_cannot_join(const run_settings& settings, const std::string& listen) {
  const bool alone = settings.deterministic;
  if (alone && !listen.empty()) {
    throw std::invalid_argument(
        "--listen: expected none in a deterministic run, which no node can join, got " + listen);
  }
  if (!listen.empty()) return;
  const auto options = nlohmann::json::parse(settings.config).flatten();
  for (const auto& [path, value] : options.items()) {
    const bool places = path.ends_with("/placement") || path.starts_with("/placement/");
    if (!places || !value.is_string() || !value.get<std::string>().starts_with("node:")) continue;
    const auto node = value.get<std::string>();
    throw config_error(
        path,
        alone ? "expected no node in a deterministic run, which no node can join, got " + node
              : "expected --listen HOST:PORT beside it, where nodes join, got " + node + " alone");
  }
}

/// Handles the first SIGINT or SIGTERM by asking the run to stop. Before the run has begun, it ends
/// the process.
class stop_request {
 public:
  /// From this call on, the run checks whether a stop was asked for.
  void heed() { heeded_ = true; }
  bool asked() const { return asked_; }
  void ask() {
    asked_ = true;
    if (!heeded_) _exit(130);
  }

 private:
  std::atomic<bool> heeded_{false};
  std::atomic<bool> asked_{false};
};

/// Returns whether all results of a run are on the disk, and prints those that are not.
bool report_unwritten(const run_result& result, const context& of) {
  if (result.unwritten.empty()) return true;
  std::vector<std::string> names;
  for (const auto& path : result.unwritten) names.push_back(path.string());
  fmt::print(stderr, "{} train: could not write {}; the log above says why\n", of.program,
             fmt::join(names, ", "));
  return false;
}

/// Prints how many steps a run has lost because its last checkpoints could not be written.
void report_lost(const run_result& result, const std::string& so_far, const context& of) {
  if (result.saved_steps == 0) {
    fmt::print(stderr, "{} train: stopped after {}, all lost: no checkpoint could be written\n",
               of.program, so_far);
    return;
  }
  fmt::print(stderr,
             "{0} train: stopped after {1}, of which those after {2} are lost: no later "
             "checkpoint could be written; go on from there with: {0} train --resume {3}\n",
             of.program, so_far, result.saved_steps, result.run_directory);
}

/// Prints how a stopped run can be continued. Returns the exit code, which is 0 if the run can go
/// on from where it stopped.
int report_stopped(std::FILE* to, const run_result& result, const run_settings& settings,
                   const context& of) {
  const auto& directory = result.run_directory;
  if (directory.empty()) return 130;  // the run stopped before it had a directory
  const auto so_far = fmt::format("{} {}", result.steps, settings.labels.steps);
  if (settings.checkpoint.every_updates > 0) {
    if (result.saved_steps != result.steps) {
      report_lost(result, so_far, of);
      return 1;
    }
    const auto when = result.steps == 0 ? "before its first checkpoint" : "after " + so_far;
    fmt::print(to, "stopped {}; {} with: {} train --resume {}\n", when,
               result.steps == 0 ? "begin it anew" : "go on", of.program, directory);
    return 0;
  }
  if (!report_unwritten(result, of)) return 1;
  const auto model = run_directory::open(directory).last_model();
  std::error_code ignored;
  if (std::filesystem::exists(model, ignored)) {
    fmt::print(to, "stopped after {}; the model of that moment is {}: {} eval {}\n", so_far,
               model.string(), of.program, directory);
  }
  fmt::print(to, "it can't go on: it kept no checkpoints, as checkpoint.every_updates=10 does\n");
  return 130;
}

/// What is known of a stopped run, as JSON on one line. The keys are those of a summary, and
/// `interrupted` and `saved_steps`.
std::string stopped_to_json(const run_result& result, const run_settings& settings) {
  return nlohmann::ordered_json{{"algo", settings.algo},
                                {"env", settings.env.id},
                                {"mode", settings.mode == training_mode::sync ? "sync" : "async"},
                                {"seed", settings.seed},
                                {"steps", result.steps},
                                {"saved_steps", result.saved_steps},
                                {"interrupted", true},
                                {"run_directory", result.run_directory}}
      .dump();
}

int report(const train_arguments& arguments, const run_settings& settings, const run_result& result,
           const context& of) {
  std::FILE* const to = for_people(arguments.json, arguments.verbose);
  if (!result.summary) {
    const int code = report_stopped(to, result, settings, of);
    if (arguments.json) std::puts(stopped_to_json(result, settings).c_str());
    return code;
  }
  print_summary(to, *result.summary, settings.labels);
  print_stop(to, *result.summary, settings, of);
  if (arguments.json) std::puts(result.summary->to_json().c_str());
  return report_unwritten(result, of) ? 0 : 1;
}

int run(const train_arguments& arguments, beginning start, run_options options, const context& of) {
  const auto server = serve_metrics(*options.metrics, arguments.metrics);
  const run_output output{.root = arguments.runs,
                          .directory = start.directory,
                          .table = arguments.verbose,
                          .table_to_stderr = arguments.json,
                          .progress_bar = arguments.progress_bar,
                          .metrics_port = server ? server->port() : 0,
                          .lock = start.lock};
  if (server) {
    log::info("metrics are served", {{"page", server->page()}});
  }
  int code = 0;
  options.on_result = [&](const run_result& result) {
    code = report(arguments, start.what.settings, result, of);
    std::fflush(stdout);
  };
  train(start.what, output, options, std::move(start.from));
  return code;
}

}  // namespace

int train(const train_arguments& arguments, const context& of) {
  const auto complain = [&](const std::exception& e) {
    print_error(of.program + " train", e.what());
  };
  quiet_log(arguments.json, arguments.verbose);
  const auto metrics = std::make_shared<metrics_registry>();
  beginning start;
  try {
    check_listen(arguments);
    start = begin(arguments, *metrics, of);
    const auto& settings = start.what.settings;
    refuse_nodes_that_cannot_join(settings, arguments.listen);
    if (settings.deterministic && settings.model.empty()) {
      require_deterministic(settings.env);
    }
  } catch (const std::exception& e) {
    complain(e);
    return 2;
  }

  use_one_torch_thread();
  stop_request stop;
  const bool keeps_checkpoints = start.what.settings.checkpoint.every_updates > 0;
  const auto stop_limit =
      std::chrono::duration_cast<duration>(std::chrono::duration<double>(arguments.stop_limit));
  const signal_watch signals(
      [&stop, keeps_checkpoints] {
        stop.ask();
        log::info("the run is asked to stop; a second signal ends the process",
                  {{"ends", keeps_checkpoints ? "after the update under way" : "now"}});
      },
      stop_limit);
  std::optional<trace_file> traced;
  try {
    traced.emplace(arguments.trace);
  } catch (const trace_file_error& e) {
    complain(e);
    return 2;
  }
  run_options options{
      .threads = arguments.threads,
      .listen = arguments.listen,
      .certs = arguments.certs,
      .join_secret = arguments.join_secret,
      .nodes = arguments.nodes,
      .metrics = metrics,
      .trace = traced->trace(),
      .stop_limit = stop_limit,
      .stop_asked = [&] { return stop.asked(); },
      .callbacks = of.callbacks ? of.callbacks(start.what.settings) : run_callbacks{}};
  bool told = false;
  options.on_error = [&](const call_error& e) {
    complain(e);
    told = true;
  };
  stop.heed();
  try {
    return run(arguments, std::move(start), std::move(options), of);
  } catch (const port_busy& e) {
    complain(e);
    return 2;
  } catch (const metrics_place_error& e) {
    complain(e);
    return 2;
  } catch (const run_directory_error& e) {
    complain(e);
    return 2;
  } catch (const call_error& e) {
    if (!told) complain(e);
    return e.kind() == error_kind::cancelled ? 130 : 1;
  }
}

}  // namespace troupe::command
