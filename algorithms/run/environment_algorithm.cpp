#include "actors/torch/torch.hpp"

#include "algorithms/run/environment_algorithm.hpp"

#include <algorithm>
#include <atomic>

#include "actors/networks/model_file.hpp"
#include "actors/networks/shape_of.hpp"
#include "runtime/base/log.hpp"

namespace troupe {

environment_algorithm::environment_algorithm(training_run& in)
    : in(in), spec(spec_of(in.settings.env)), shape(shape_of(spec)) {}

evaluator_options environment_algorithm::evaluator_of(int episodes) const {
  return {.environments = environments_of(in.settings.env,
                                          environments_of_evaluation(episodes, spec.tasks.size())),
          .shape = shape,
          .network = in.settings.network};
}

task<> environment_algorithm::serve_evaluator() {
  const auto& s = in.settings;
  serve_options measuring{.name = "evaluator",
                          .placement = place_of_evaluation(s.env),
                          .deadline = long_call,
                          .idempotent = {endpoint<&evaluator::evaluate>}};
  evaluations = co_await in.serve<evaluator>(std::move(measuring),
                                             evaluator_of(s.evaluation.episodes), in.stop_asked);
}

task<evaluation> environment_algorithm::evaluate(weights of, std::size_t episodes,
                                                 std::uint64_t seed) {
  co_return co_await evaluations.route<&evaluator::evaluate>(std::move(of), episodes, seed);
}

void environment_algorithm::write_model(const std::filesystem::path& path, const weights& of,
                                        std::optional<double> score, named_tensors beside) const {
  save_model(path, saved_model{shape, in.settings.network, of.parameters,
                               static_cast<std::uint64_t>(of.version), score, in.progress.steps,
                               std::move(beside)});
}

std::optional<double> environment_algorithm::kept_score(const std::filesystem::path& path) const {
  return load_model(path).score;
}

namespace {

// Observers of environments. They are structs and no lambdas, because structs can be sent to other
// processes. The flag and the counter of an observer count only what happens in its own process.

struct steps_observer {
  training_metrics metrics;
  std::string id;
  std::shared_ptr<std::atomic_flag> begun = std::make_shared<std::atomic_flag>();

  auto wire_members() { return std::tie(metrics, id); }
  void operator()(std::int64_t steps) const {
    metrics.env_stepped(steps);
    if (begun->test() || begun->test_and_set()) return;
    log::debug("the first environment step was taken", {{"env", id}});
  }
};

struct episode_observer {
  training_metrics metrics;

  void operator()(double episode_return, std::int64_t length, bool truncated) const {
    metrics.episode_ended(episode_return, length, truncated);
  }
};

/// Counts every failure in the metric, and logs the first 20 and then every 1000th.
struct failure_observer {
  training_metrics metrics;
  std::string id;
  std::shared_ptr<std::atomic<std::int64_t>> failures =
      std::make_shared<std::atomic<std::int64_t>>(0);

  auto wire_members() { return std::tie(metrics, id); }
  void operator()(const env_failure& failure) const {
    metrics.env_failed(to_string(failure.reason));
    const auto count = ++*failures;
    if (count > 20 && count % 1000 != 0) return;
    log::warn("an episode was dropped", {{"env", id},
                                         {"environment", failure.index},
                                         {"reason", to_string(failure.reason)},
                                         {"failures", count},
                                         {"error", failure.message}});
  }
};

}  // namespace

env_observers observers_of(const training_metrics& metrics, const std::string& id) {
  return {.stepped = steps_observer{metrics, id},
          .episode_ended = episode_observer{metrics},
          .failed = failure_observer{metrics, id}};
}

placement place_of_evaluation(const env_section& env) {
  return place_of(env) == placement::thread || blocks(env) ? placement::thread : placement::shared;
}

}  // namespace troupe
