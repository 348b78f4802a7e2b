#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "actors/evaluator/evaluator.hpp"
#include "actors/policy/model_file.hpp"
#include "actors/recorder/run_directory.hpp"
#include "actors/torch_threads.hpp"
#include "deploy/troupe/algorithms.hpp"
#include "deploy/troupe/commands.hpp"

namespace troupe::command {

namespace {

/// The path of the run's last_model or best_model. Throws std::invalid_argument where it is not
/// there.
std::filesystem::path model_of(const run_directory& run, const std::string& which) {
  const bool best = which == "best_model";
  const auto path = best ? run.best_model() : run.last_model();
  const auto other = best ? run.last_model() : run.best_model();
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) return path;
  std::string message = path.string() + ": expected a model, got no file";
  if (std::filesystem::exists(other, ignored)) {
    message +=
        "; there is a " + other.filename().string() + ": --model " + other.filename().string();
  }
  throw std::invalid_argument(message);
}

}  // namespace

int eval(const eval_arguments& arguments) {
  use_one_torch_thread();
  std::string env;
  saved_model model;
  std::optional<evaluator> judge;
  const auto n = static_cast<int>(std::min<std::size_t>(arguments.episodes, 10));
  try {
    const auto run = run_directory::open(arguments.run_directory);
    const auto document = read_json_file(run.config_json());
    const auto settings = algorithm_of(document).configure(document).settings;
    if (!settings.model.empty()) {
      throw std::invalid_argument(run.path().string() +
                                  ": expected a run on an environment, got one of " +
                                  settings.algo + "; its summary.json has its evaluation");
    }
    const auto& played = settings.env;
    env = played.id;
    model = load_model(model_of(run, arguments.model));
    judge.emplace(evaluator_options{.environments = environments_of(played, n),
                                    .shape = model.shape,
                                    .network = model.options,
                                    .seed = arguments.seed});
  } catch (const std::exception& e) {
    std::fprintf(stderr, "troupe eval: %s\n", e.what());
    return 2;
  }

  const auto version = static_cast<std::int64_t>(model.policy_version);
  const auto result = judge->evaluate(weights{version, model.parameters, {}}, arguments.episodes);
  std::printf("%s, weights of version %lld: %.1f +/- %.1f over %zu episodes\n", env.c_str(),
              static_cast<long long>(version), result.mean, result.std, result.returns.size());
  if (arguments.json) {
    const nlohmann::ordered_json line{{"env", env},
                                      {"version", version},
                                      {"eval_mean", result.mean},
                                      {"eval_std", result.std},
                                      {"eval_episodes", result.returns.size()}};
    std::puts(line.dump().c_str());
  }
  return 0;
}

}  // namespace troupe::command
