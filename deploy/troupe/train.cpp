#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "actors/env/registry.hpp"
#include "actors/recorder/file_io.hpp"
#include "actors/recorder/run_directory.hpp"
#include "actors/torch_threads.hpp"
#include "deploy/troupe/algorithms.hpp"
#include "deploy/troupe/commands.hpp"
#include "deploy/troupe/model_cache.hpp"
#include "runtime/log.hpp"
#include "runtime/metrics/registry.hpp"
#include "runtime/run.hpp"
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
  if (arguments.faults) fault_plan::parse(*arguments.faults);  // says what is wrong with it
  set_text("faults", arguments.faults);
  overrides.insert(overrides.end(), arguments.overrides.begin(), arguments.overrides.end());
  return load_config(arguments.config_file, overrides);
}

/// The words of a list, each with `before` it: "--algo ppo, --algo a2c".
std::string list_of(const std::vector<std::string>& words, const std::string& before) {
  return fmt::format("{}{}", before, fmt::join(words, ", " + before));
}

std::vector<std::string> algorithms_with(const char* section) {
  std::vector<std::string> names;
  for (const auto& one : algorithms()) {
    if (one.schema()["properties"].contains(section)) names.emplace_back(one.name);
  }
  return names;
}

/// Who gives a task to an algorithm that learns on environments, or the other way round, would only
/// hear of an unknown key. Throws std::invalid_argument.
void refuse_misfit(const nlohmann::json& document, const algorithm& which) {
  if (!document.is_object()) return;
  const auto options = which.schema()["properties"];
  if (document.contains("task") && !options.contains("task")) {
    throw std::invalid_argument(
        fmt::format("{} learns on an environment (--env), not on a task; for a task of a language "
                    "model say {}",
                    which.name, list_of(algorithms_with("task"), "--algo ")));
  }
  if (document.contains("env") && !options.contains("env")) {
    throw std::invalid_argument(
        fmt::format("{} trains a language model on a task, not on an environment: say --task and "
                    "one of those that `troupe list` has; for an environment say {}",
                    which.name, list_of(algorithms_with("env"), "--algo ")));
  }
}

/// A language model that is installed is known by its name; a run's configuration has its file.
/// Throws std::invalid_argument.
void find_language_model(nlohmann::json& document) {
  const nlohmann::json::json_pointer at("/model/path");
  if (!document.contains(at) || !document[at].is_string()) return;
  const auto named = document[at].get<std::string>();
  if (!named.empty()) document[at] = resolve_model(named).string();
}

void print_for_people(const training_summary& s, const run_words& words) {
  std::string verdict;
  if (s.solved) verdict = ", solved";
  if (s.reward_threshold && !s.solved) {
    verdict = fmt::format(", NOT solved: that takes {}", *s.reward_threshold);
  }
  const int rate_decimals = s.steps_per_s > 0 && s.steps_per_s < 10 ? 2 : 0;
  fmt::print("{} after {} {} in {:.1f} s ({:.{}f} {}/s): {}{:.{}f} +/- {:.{}f} over {} {}{}\n",
             s.env, s.steps, words.steps, s.wall_s, s.steps_per_s, rate_decimals, words.steps,
             words.verdict, s.eval_mean, words.decimals, s.eval_std, words.decimals,
             s.eval_episodes, words.judged, verdict);
  if (s.start_s > 0)
    fmt::print("before that: {:.1f} s of warm start and first evaluation\n", s.start_s);
  std::printf("run directory: %s\n", s.run_directory.c_str());
}

/// Why a run has made fewer steps than it was given, and how it makes them.
void print_goal(const training_summary& s, const training_settings& settings) {
  const auto& goal = settings.evaluation.stop_at;
  if (!s.stopped || !goal) return;
  fmt::print("training ended at its goal, an evaluation of at least {} (evaluation.stop_at)",
             *goal);
  if (settings.checkpoint.every_updates > 0) {
    fmt::print("; it goes on past that with: troupe train --resume {} --steps N, N {} {}",
               s.run_directory, s.steps < settings.total_steps ? "at least" : "above",
               settings.total_steps);
  }
  fmt::print("\n");
}

/// What a run begins with.
struct beginning {
  trainable what;
  std::optional<checkpoint> from;
  std::string directory = {};  ///< Of the run that is resumed; empty: a new one.
  std::shared_ptr<const run_lock> lock = nullptr;  ///< Of that.
};

/// The run with more steps, also in its config.json, for whoever resumes it next. One that has
/// reached its goal has none from then on: it would end at the next evaluation. Throws config_error
/// where the steps are fewer.
trainable lengthen(const run_directory& run, nlohmann::json document, const std::string& steps,
                   bool at_goal, const permissions& may) {
  const auto before = document.at("total_steps");
  apply_override(document, "total_steps=" + steps);
  if (at_goal) document.at("evaluation").at("stop_at") = nullptr;
  auto longer = algorithm_of(document).configure(document, may);
  const auto after = nlohmann::ordered_json::parse(longer.settings.config);
  if (after.at("total_steps").get<std::int64_t>() < before.get<std::int64_t>()) {
    throw config_error("/total_steps", "expected at least the run's own " + before.dump() +
                                           ", got " + after.at("total_steps").dump());
  }
  if (at_goal || after.at("total_steps") != before) {
    write_file_atomically(run.config_json(), after.dump(2) + '\n');
  }
  if (at_goal) log::info("the run goes on past its goal", {{"directory", run.path().string()}});
  return longer;
}

/// The options of which two configurations have other values, each with both: "trainer.lr is
/// 0.0003, asked for 0.001".
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

/// Throws std::invalid_argument naming the options in which the run is another than what is asked
/// for. More steps are none of them, nor is a number of steps that nobody has asked for.
void refuse_another_run(const run_directory& run, const training_settings& own,
                        const training_settings& asked, bool steps_asked) {
  auto before = nlohmann::json::parse(own.config);
  auto after = nlohmann::json::parse(asked.config);
  const bool further = after.at("total_steps") >= before.at("total_steps");
  if (further || !steps_asked) before["total_steps"] = after["total_steps"];
  std::vector<std::string> found;
  find_differences(before, after, "", found);
  if (found.empty()) return;
  const auto path = run.path().string();
  throw std::invalid_argument(fmt::format(
      "--continue: {} is another run than what is asked for: {}; go on with it by --resume {}, or "
      "begin one without --continue or in another folder by --runs",
      path, fmt::join(found, "; "), path));
}

/// `steps`: of the longer run; none: as many as it has. `asked`: what it has to be; null: anything.
beginning resume(const run_directory& run, const train_arguments& arguments,
                 const std::optional<std::string>& steps, const training_settings* asked,
                 metrics_registry& metrics) {
  read_json_file(run.config_json());  // a folder that is no run is not even locked
  auto lock = std::make_shared<const run_lock>(run);
  const auto document = read_json_file(run.config_json());
  const permissions may{.unsandboxed_code = arguments.allow_unsandboxed_code};
  auto what = algorithm_of(document).configure(document, may);
  if (asked) refuse_another_run(run, what.settings, *asked, steps.has_value());
  auto from = newest_checkpoint(run.path().string(), what.settings, metrics);
  if (steps) {
    // --continue is said again each time that the same run is started.
    const bool past_goal = !arguments.go_on && from && is_at_goal(*from, what.settings);
    what = lengthen(run, document, *steps, past_goal, may);
  }
  return {std::move(what), std::move(from), run.path().string(), std::move(lock)};
}

/// Throws what is wrong with the arguments, the configuration or the run to be resumed.
beginning begin(const train_arguments& arguments, metrics_registry& metrics) {
  if (!arguments.resume.empty()) {
    return resume(run_directory::open(arguments.resume), arguments, arguments.total_steps, nullptr,
                  metrics);
  }
  auto document = resolve(arguments);
  find_language_model(document);
  const auto& which = algorithm_of(document, arguments.algo);
  refuse_misfit(document, which);
  auto what = which.configure(document, {.unsandboxed_code = arguments.allow_unsandboxed_code});
  what.check();
  if (arguments.go_on) {
    const auto& settings = what.settings;
    const auto newest = run_directory::newest(arguments.runs, settings.algo, settings.env.id);
    // One that was killed before it had written its configuration has nothing to go on from.
    if (newest && std::filesystem::exists(newest->config_json())) {
      std::optional<std::string> steps;
      if (document.contains("total_steps")) steps = document["total_steps"].dump();
      return resume(*newest, arguments, steps, &settings, metrics);
    }
  }
  return {.what = std::move(what), .from = std::nullopt};
}

/// What the first SIGINT or SIGTERM does: it asks the run to stop. Where none goes on yet the
/// process ends.
class stop_request {
 public:
  /// From now on there is somebody who asks.
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

/// Whether all results of a run are on the disk; what is not is told.
bool report_unwritten(const training_result& result) {
  if (result.unwritten.empty()) return true;
  std::vector<std::string> names;
  for (const auto& path : result.unwritten) names.push_back(path.string());
  fmt::print(stderr, "troupe train: could not write {}; the log above says why\n",
             fmt::join(names, ", "));
  return false;
}

/// A run whose last checkpoints could not be written.
void report_lost(const training_result& result, const std::string& so_far) {
  if (result.saved_steps == 0) {
    fmt::print(stderr, "troupe train: stopped after {}, all lost: no checkpoint could be written\n",
               so_far);
    return;
  }
  fmt::print(stderr,
             "troupe train: stopped after {}, of which those after {} are lost: no later "
             "checkpoint could be written; go on from there with: troupe train --resume {}\n",
             so_far, result.saved_steps, result.run_directory);
}

/// The exit code: 0 where the run can go on from where it is.
int report_stopped(const training_result& result, const training_settings& settings) {
  const auto& directory = result.run_directory;
  if (directory.empty()) return 130;  // before there was anything to keep
  const auto so_far = fmt::format("{} {}", result.steps, settings.words.steps);
  if (settings.checkpoint.every_updates > 0) {
    if (result.saved_steps != result.steps) {
      report_lost(result, so_far);
      return 1;
    }
    std::printf("stopped after %s; go on with: troupe train --resume %s\n", so_far.c_str(),
                directory.c_str());
    return 0;
  }
  if (!report_unwritten(result)) return 1;
  const auto model = run_directory::open(directory).last_model();
  std::error_code ignored;
  if (std::filesystem::exists(model, ignored)) {
    std::printf("stopped after %s; the model of that moment is %s: troupe eval %s\n",
                so_far.c_str(), model.c_str(), directory.c_str());
  }
  std::printf("it can't go on: it kept no checkpoints, as checkpoint.every_updates=10 does\n");
  return 130;
}

int report(const train_arguments& arguments, const training_settings& settings,
           const training_result& result) {
  if (!result.summary) return report_stopped(result, settings);
  print_for_people(*result.summary, settings.words);
  print_goal(*result.summary, settings);
  if (arguments.json) std::puts(result.summary->to_json().c_str());
  return report_unwritten(result) ? 0 : 1;
}

int run(const train_arguments& arguments, beginning start, const training_run_options& options) {
  const auto server = serve_metrics(*options.metrics, arguments.metrics);
  const training_output output{.root = arguments.runs,
                               .directory = start.directory,
                               .table = arguments.verbose,
                               .progress_bar = arguments.progress_bar,
                               .metrics_port = server ? server->port() : 0,
                               .lock = start.lock};
  if (server) {
    log::info("metrics are served",
              {{"page", fmt::format("http://localhost:{}/", server->port())}});
  }
  const auto result = run_training(start.what, output, options, std::move(start.from));
  return report(arguments, start.what.settings, result);
}

}  // namespace

int train(const train_arguments& arguments) {
  const auto metrics = std::make_shared<metrics_registry>();
  beginning start;
  try {
    start = begin(arguments, *metrics);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "troupe train: %s\n", e.what());
    return 2;
  }

  use_one_torch_thread();
  stop_request stop;
  const signal_watch signals([&] { stop.ask(); });
  std::optional<trace_file> traced;
  try {
    traced.emplace(arguments.trace);
  } catch (const trace_file_error& e) {
    std::fprintf(stderr, "troupe train: %s\n", e.what());
    return 2;
  }
  const training_run_options options{.threads = arguments.threads,
                                     .listen = arguments.listen,
                                     .certs = arguments.certs,
                                     .join_secret = arguments.join_secret,
                                     .nodes = arguments.nodes,
                                     .metrics = metrics,
                                     .trace = traced->trace(),
                                     .stop_asked = [&] { return stop.asked(); },
                                     .callbacks = {}};
  stop.heed();
  try {
    return run(arguments, std::move(start), options);
  } catch (const port_busy& e) {
    std::fprintf(stderr, "troupe train: %s\n", e.what());
    return 2;
  } catch (const run_directory_error& e) {
    std::fprintf(stderr, "troupe train: %s\n", e.what());
    return 2;
  } catch (const call_error& e) {
    std::fprintf(stderr, "troupe train: %s\n", e.what());
    return e.kind() == error_kind::cancelled ? 130 : 1;
  }
}

}  // namespace troupe::command
