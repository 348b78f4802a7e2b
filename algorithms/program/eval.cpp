#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "actors/evaluator/evaluator.hpp"
#include "actors/evaluator/joint_actions.hpp"
#include "actors/networks/encoder_code.hpp"
#include "actors/networks/model_file.hpp"
#include "actors/networks/shape_of.hpp"
#include "actors/recorder/run_directory.hpp"
#include "actors/recorder/score_text.hpp"
#include "actors/torch/torch_threads.hpp"
#include "actors/video/episode_video.hpp"
#include "algorithms/program/commands.hpp"
#include "algorithms/program/context.hpp"
#include "algorithms/program/verdict.hpp"
#include "algorithms/run/model_path.hpp"
#include "algorithms/run/server_sessions.hpp"
#include "algorithms/run/trusted_run.hpp"
#include "runtime/base/print_error.hpp"
#include "runtime/config/json_text.hpp"

namespace troupe::command {

namespace {

constexpr std::size_t episodes_usual = 100;

/// Makes one environment, which plays each of its tasks in turn if it has several.
hosted_environment::factory one_environment(env_section played) {
  played.render = true;
  return [make = environments_of(played, 1)] {
    auto made = make();
    std::vector<std::size_t> tasks(made->spec().tasks.size());
    std::iota(tasks.begin(), tasks.end(), std::size_t{0});
    if (!tasks.empty()) made->set_turns(tasks);
    return made;
  };
}

/// Begins the file of --video, so that what is wrong with it is found before the evaluation.
std::optional<episode_video> begin_video(const eval_arguments& arguments,
                                         const env_section& played) {
  if (arguments.video.empty()) return std::nullopt;
  const auto environments = one_environment(played)();
  const auto tasks = environments->spec().tasks.size();
  const int episodes = episodes_of_all_tasks(static_cast<int>(arguments.video_episodes), tasks);
  const episode_video_options options{.file = arguments.video,
                                      .episodes = static_cast<std::size_t>(episodes)};
  return std::optional<episode_video>(std::in_place, options, *environments);
}

/// Plays the episodes of the video, of which the first is the evaluation's first one. Returns the
/// exit code.
int film(episode_video& video, const eval_arguments& arguments, const context& of,
         evaluator_options options, const weights& trained) {
  try {
    evaluator player(std::move(options), nullptr,
                     [&video](vector_environment& environments, const env_step* after) {
                       after ? video.add(environments, *after) : video.begin(environments);
                     });
    const auto result = player.evaluate(trained, video.episodes(), arguments.seed);
    video.finish();
    std::fprintf(for_people(arguments.json), "%s: %zu %s %s, %zu pictures, %.1f s%s\n",
                 arguments.video.c_str(), video.episodes(),
                 video.episodes() == 1 ? "episode of return" : "episodes of mean return",
                 score_text(result.mean).c_str(), video.frames(), video.seconds(),
                 video.is_cut() ? "; the rest is left out" : "");
    return 0;
  } catch (const std::exception& e) {
    print_error(of.program + " eval", e.what());
    return 1;
  }
}

evaluation_score score_of(const evaluation& result, std::optional<double> threshold) {
  return {.mean = result.mean,
          .std = result.std,
          .episodes = static_cast<std::int64_t>(result.returns.size()),
          .threshold = threshold};
}

/// Begins the line of --json, whose keys are those of a run's summary.
nlohmann::ordered_json line_of(const std::string& algo, const std::string& env,
                               const evaluation_score& score) {
  using json = nlohmann::ordered_json;
  return {{"algo", algo},
          {"env", env},
          {"eval_mean", score.mean},
          {"eval_std", score.std},
          {"eval_episodes", score.episodes},
          {"solved", score.is_solved()},
          {"reward_threshold", score.threshold ? json(*score.threshold) : json()}};
}

/// Prints the table of joint actions, if there is one, and returns the shares by name.
nlohmann::ordered_json joint_actions_of(const eval_arguments& arguments, const env_spec& spec,
                                        const std::vector<double>& shares) {
  nlohmann::ordered_json by_name;
  if (shares.empty()) return by_name;
  for (std::size_t i = 0; i < shares.size(); ++i) by_name[joint_action_name(spec, i)] = shares[i];
  std::fputs("joint actions, as shares of the steps:\n", for_people(arguments.json));
  const auto [columns, rows] = table_of(spec, shares);
  const auto print = [&](const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const auto first = static_cast<int>(columns[0].size());
      std::fprintf(for_people(arguments.json), i == 0 ? "  %-*s" : "  %*s", i == 0 ? first : 7,
                   cells[i].c_str());
    }
    std::fputs("\n", for_people(arguments.json));
  };
  print(columns);
  for (const auto& row : rows) print(row);
  return by_name;
}

/// Returns the run's configuration with the environment that the arguments choose. Throws
/// std::invalid_argument for options of something else, and for a run without an environment.
nlohmann::json with_environment(nlohmann::json document, const eval_arguments& arguments) {
  if (!arguments.env && arguments.overrides.empty()) return document;
  if (!document.is_object() || !document.contains("env") || !document["env"].is_object())
    throw std::invalid_argument("--env and env.a=value: expected a run on an environment, got " +
                                arguments.run_directory + ", which is on a task");
  auto& env = document["env"];
  if (arguments.env) {
    env["id"] = *arguments.env;
    for (const auto* own : {"options", "reset_options", "tasks", "schedule", "curriculum"})
      env.erase(own);
  }
  for (const auto& override : arguments.overrides) {
    if (!override.starts_with("env."))
      throw std::invalid_argument(
          "expected an option of the environment, such as env.options={}, got " + override +
          "; an evaluation takes all others from the run");
    apply_override(document, override);
  }
  return document;
}

/// Throws std::invalid_argument if the model's network does not fit the environment.
void require_fitting(const env_spec& spec, const run_settings& settings, const saved_model& model,
                     const std::filesystem::path& path) {
  // The policies of several agents are held against the observation of all of them.
  const bool has_policies = settings.shape != nullptr;
  const auto needed =
      shape_of(spec, has_policies ? network_body::automatic : settings.network.body);
  if (fits(model.shape, needed)) return;
  throw std::invalid_argument(fmt::format(
      "{}: expected an environment whose spaces fit the network of {}, which is for {}; got one "
      "for {}",
      spec.id, path.string(), to_string(model.shape), to_string(needed)));
}

/// Evaluates a policy on an environment.
int eval_policy(const eval_arguments& arguments, const run_directory& run,
                const run_settings& settings, const context& of) {
  const auto played = for_evaluation(settings.env);
  const auto path = model_of_run(run, arguments.model, "--model ");
  load_encoder(settings.network.encoder);
  const auto model = load_model(path);
  const auto spec = spec_of(played);
  require_fitting(spec, settings, model, path);
  auto video = begin_video(arguments, played);
  const auto episodes = arguments.episodes > 0 ? arguments.episodes : episodes_usual;
  require_sessions(played, 0, 1, static_cast<int>(episodes));
  const auto environments = environments_of(
      played, evaluation_size(played, static_cast<int>(episodes), spec.tasks.size()));
  const auto version = static_cast<std::int64_t>(model.policy_version);
  const weights trained{version, model.parameters, {}};
  evaluator_options options{.environments = environments,
                            .shape = model.shape,
                            .network = model.options,
                            .env_options = played.options.text};
  const auto result = [&] {
    try {
      evaluator policy_evaluator(options);
      return policy_evaluator.evaluate(trained, episodes, arguments.seed);
    } catch (const c10::Error& error) {
      throw std::invalid_argument(
          "model file " + path.string() +
          ": its weights don't have its shape: " + error.what_without_backtrace());
    }
  }();
  const auto score = score_of(result, spec.reward_threshold);
  std::fprintf(for_people(arguments.json), "%s, weights of version %lld: %s\n", played.id.c_str(),
               static_cast<long long>(version), verdict_of(score, settings.labels).c_str());
  nlohmann::ordered_json agents;
  for (std::size_t i = 0; i < result.agent_means.size(); ++i) {
    const auto& name = result.agent_names[i];
    agents[name] = result.agent_means[i];
    std::fprintf(for_people(arguments.json), "  %s: %s\n", name.c_str(),
                 score_text(result.agent_means[i]).c_str());
  }
  const auto together = joint_actions_of(arguments, spec, result.joint_actions);
  if (arguments.json) {
    auto line = line_of(settings.algo, played.id, score);
    line["version"] = version;
    line["seed"] = arguments.seed;
    line["model"] = path.string();
    line["run_directory"] = arguments.run_directory;
    if (!agents.empty()) line["eval_agents"] = agents;
    if (!together.empty()) line["joint_actions"] = together;
    std::puts(line.dump().c_str());
  }
  if (!video) return 0;
  options.environments = one_environment(played);
  return film(*video, arguments, of, std::move(options), trained);
}

/// Evaluates a language model on held-out problems of its task.
int eval_answers(const eval_arguments& arguments, const run_directory& run, const std::string& task,
                 const nlohmann::json& document, const run_permissions& may,
                 const named_algorithm& algorithm) {
  const auto path = model_of_run(run, arguments.model, "--model ");
  const auto [result, verdict] = algorithm.evaluate(document, may, path, arguments.episodes);
  std::fprintf(for_people(arguments.json), "%s, %s: %s\n", task.c_str(), arguments.model.c_str(),
               verdict.c_str());
  if (arguments.json) {
    auto line = line_of(algorithm.name, task, score_of(result, std::nullopt));
    line["model"] = path.string();
    line["run_directory"] = arguments.run_directory;
    std::puts(line.dump().c_str());
  }
  return 0;
}

}  // namespace

int eval(const eval_arguments& arguments, const context& of) {
  quiet_log(arguments.json);
  use_one_torch_thread();
  try {
    const auto run = run_directory::open(arguments.run_directory);
    const auto own = run.config();
    const auto document = with_environment(own, arguments);
    if (!arguments.trust) {
      // What the command line names is the user's choice, and not that of the run.
      auto theirs = own;
      if (arguments.env) theirs["env"]["id"] = "";
      require_trust(run.path(), theirs, "--trust");
    }
    const run_permissions may{.unsandboxed_code = arguments.allow_unsandboxed_code};
    const auto& algorithm = of.algorithm_of_run(run.path(), document);
    const auto settings = algorithm.configure(document, may).settings;
    if (algorithm.evaluate && !arguments.video.empty())
      throw std::invalid_argument(
          "--video: expected a run on an environment, got one on the task " + settings.env.id);
    if (algorithm.evaluate)
      return eval_answers(arguments, run, settings.env.id, document, may, algorithm);
    return eval_policy(arguments, run, settings, of);
  } catch (const evaluation_error&) {
    throw;  // the evaluation failed, and the arguments were not wrong
  } catch (const call_error&) {
    throw;
  } catch (const std::exception& e) {
    print_error(of.program + " eval", e.what());
    return 2;
  }
}

}  // namespace troupe::command
