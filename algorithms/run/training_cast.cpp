#include "actors/torch.hpp"

#include "algorithms/run/training_cast.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

#include "actors/derived_seed.hpp"
#include "actors/policy/model_file.hpp"
#include "actors/policy/shape_of.hpp"
#include "actors/recorder/pretty_json.hpp"
#include "algorithms/run/cast_state.hpp"
#include "runtime/coroutine/combine.hpp"
#include "runtime/log.hpp"
#include "runtime/metrics/registry.hpp"

namespace troupe {

namespace {

double process_cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void keep_model(training_cast& cast, const std::filesystem::path& path, const weights& newest,
                std::optional<double> score = std::nullopt) {
  try {
    cast.write_model(path, newest, score);
    cast.unwritten.erase(path);
  } catch (const std::exception& e) {
    cast.unwritten.insert(path);
    cast.metrics.write_failed();
    log::error("a model was not saved; training goes on", {{"error", e.what()}});
  }
}

/// What a callback is told: of the whole run, of which this loop may be a part.
loops::progress whole_progress(const training_cast& cast, const training_progress& before,
                               loops::progress now) {
  now.updates = cast.done.version;
  now.steps = cast.done.steps;
  now.episodes += before.episodes;
  now.seconds += before.wall;
  return now;
}

/// Whether a rule says that training is over.
bool has_enough(const training_cast& cast) {
  return std::ranges::any_of(cast.callbacks.stop,
                             [&](const auto& rule) { return rule(cast.done.scores); });
}

/// The score of the best model on the disk. That may be newer than the checkpoint that the run went
/// on from, and older than its last evaluation, if it could not be written then. One without a
/// score was the best of those the run knows of.
double score_to_beat(const training_cast& cast) {
  constexpr auto none = -std::numeric_limits<double>::infinity();
  const auto path = cast.directory.best_model();
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return none;
  try {
    return cast.kept_score(path).value_or(cast.done.scores.best);
  } catch (const std::exception& e) {
    log::warn("the best model can't be read", {{"error", e.what()}});
    return cast.done.scores.best;
  }
}

/// Evaluates the newest weights, and keeps them if they are the best so far. None where a stop ends
/// the evaluation, or where it fails, which is logged.
task<std::optional<evaluation>> evaluate_newest(training_cast& cast) {
  auto newest = co_await cast.newest();
  const auto episodes = static_cast<std::size_t>(cast.settings.evaluation.episodes);
  // Evaluations have numbers by the weights' versions, so that a run that is resumed plays the
  // same.
  const auto seed =
      derived_seed(cast.settings.seed, "evaluation", {static_cast<std::uint64_t>(newest.version)});
  evaluation result;
  std::exception_ptr failure;
  try {
    result = co_await cast.evaluate(newest, episodes, seed);
  } catch (...) {
    failure = std::current_exception();
  }
  if (failure && is_stop_asked(cast)) co_return std::nullopt;
  if (failure) {
    log::warn("training goes on without an evaluation",
              {{"env", cast.settings.env.id}, {"error", describe(failure)}});
    co_return std::nullopt;
  }
  co_await record_evaluation(cast, result);
  cast.done.evaluated = newest.version;
  const bool best = result.mean > score_to_beat(cast);
  cast.done.scores.add(result.mean);
  if (best) keep_model(cast, cast.directory.best_model(), newest, result.mean);
  co_return result;
}

/// Evaluates when another `every_steps` have passed.
task<> evaluate_now_and_then(training_cast& cast, loops::progress now) {
  const auto every = cast.settings.evaluation.every_steps;
  const auto before = cast.done.steps - now.steps_of_update;
  if (every == 0 || cast.done.steps / every == before / every) co_return;
  const auto result = co_await evaluate_and_judge(cast, now);
  if (!result && is_stop_asked(cast)) cast.done.owed = now.steps_of_update;
}

task<> end_update(training_cast& cast, loops::progress now) {
  co_await evaluate_now_and_then(cast, now);
  if (cast.done.owed > 0 || !cast.callbacks.called) co_return;
  const auto said = co_await cast.callbacks.called(now);
  cast.done.stopped = cast.done.stopped || said == loops::verdict::stop;
}

}  // namespace

bool reaches_goal(const loops::score_history& scores, const evaluation_section& of) {
  return of.stop_at && scores.evaluations > 0 && scores.last >= *of.stop_at;
}

training_cast::training_cast(system& sys, training_settings settings, training_output output,
                             training_callbacks callbacks)
    : sys(sys),
      settings(std::move(settings)),
      output(std::move(output)),
      callbacks(std::move(callbacks)),
      metrics(sys.metrics(), this->settings.without_environment ? "" : this->settings.env.id) {}

environment_cast::environment_cast(system& sys, training_settings settings, training_output output,
                                   training_callbacks callbacks)
    : training_cast(sys, std::move(settings), std::move(output), std::move(callbacks)),
      spec(spec_of(this->settings.env)),
      shape(shape_of(spec)) {}

task<evaluation> environment_cast::evaluate(weights of, std::size_t episodes, std::uint64_t seed) {
  co_return co_await judge.route<&evaluator::evaluate>(std::move(of), episodes, seed);
}

void environment_cast::write_model(const std::filesystem::path& path, const weights& of,
                                   std::optional<double> score) const {
  save_model(path, saved_model{shape, settings.network, of.parameters,
                               static_cast<std::uint64_t>(of.version), score});
}

std::optional<double> environment_cast::kept_score(const std::filesystem::path& path) const {
  return load_model(path).score;
}

serve_options restartable(const system& sys, serve_options options,
                          std::vector<const endpoint_info*> idempotent) {
  options.idempotent = std::move(idempotent);
  if (!sys.options().faults.any()) return options;
  options.deadline = no_limit;  // else a message that is lost on purpose is waited for until then
  options.max_restarts = options.max_retries = options.poison_limit = 1'000'000;
  options.backoff_limit = std::chrono::milliseconds(100);
  return options;
}

task<weights> training_cast::newest() { co_return co_await store.route<&weight_store::latest>(); }

namespace {

// What observes environments: no lambdas, so that they cross processes. What each has seen so far
// it has seen in its own.

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

/// Of an environment that keeps failing only some failures are logged; the metric counts all.
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
  return env.placement == "thread" ? placement::thread : placement::shared;
}

namespace {

/// Before the recorder is served, whose replica's error would not be told here.
held_run hold_directory(const training_cast& cast) {
  const auto& s = cast.settings;
  const auto& output = cast.output;
  if (!output.directory.empty()) return {run_directory::open(output.directory), output.lock};
  return begin_run(output.root, s.algo, s.env.id, pretty_json(s.config, "configuration"));
}

}  // namespace

task<> serve_recorder(training_cast& cast, const checkpoint* from) {
  const auto& s = cast.settings;
  auto held = hold_directory(cast);
  cast.directory = std::move(held.directory);
  cast.lock = std::move(held.lock);
  run_options run{
      .directory = cast.directory.path(),
      .saved = from ? file_of(*from, "recorder.bin") : std::string(),
      .algo = s.algo,
      .env = s.env.id,
      .config = s.config,
      .total_steps = s.total_steps,
      .words = s.words,
      .threshold = cast.threshold(),
      .table = cast.output.table,
      .progress_bar = cast.output.progress_bar,
      .board_changed = [metrics = &cast.sys.metrics()](
                           std::string board) { metrics->show("run", std::move(board)); },
      .on_failure = [](const std::string& what) { log::error(what); },
      .write_failed = [metrics = cast.metrics] { metrics.write_failed(); }};
  // It stands for the disk.
  serve_options options{.name = "recorder", .max_restarts = 0, .faults = false};
  cast.records = co_await cast.sys.serve<recorder>(std::move(options), std::move(run));
  const auto directory = cast.directory.path().string();
  if (cast.output.directory.empty()) {
    log::info("a run begins", {{"env", s.env.id}, {"directory", directory}});
  } else if (cast.output.resumed_from_step == cast.done.steps) {
    log::info("a run goes on", {{"directory", directory}, {"step", cast.done.steps}});
  }
}

evaluator_options evaluator_of(const environment_cast& cast, int episodes) {
  return {.environments = environments_of(cast.settings.env, std::min(episodes, 10)),
          .shape = cast.shape,
          .network = cast.settings.network};
}

std::uint64_t seed_of_segment(const training_cast& cast, std::string_view use) {
  return derived_seed(cast.settings.seed, use, {static_cast<std::uint64_t>(cast.done.version)});
}

task<> serve_evaluator(environment_cast& cast) {
  const auto& s = cast.settings;
  auto judging = evaluator_of(cast, s.evaluation.episodes);
  auto measuring = restartable(
      cast.sys,
      {.name = "evaluator", .placement = place_of_evaluation(s.env), .deadline = long_call},
      {endpoint<&evaluator::evaluate>});
  cast.judge =
      co_await cast.sys.serve<evaluator>(std::move(measuring), std::move(judging), cast.stop_asked);
}

task<std::optional<evaluation>> evaluate_and_judge(training_cast& cast, loops::progress now) {
  auto result = co_await evaluate_newest(cast);
  if (!result) co_return std::nullopt;
  if (cast.callbacks.evaluated) co_await cast.callbacks.evaluated(now, *result);
  cast.done.at_goal = reaches_goal(cast.done.scores, cast.settings.evaluation);
  cast.done.stopped = cast.done.stopped || has_enough(cast);
  co_return result;
}

bool is_stop_asked(const training_cast& cast) { return cast.stop_asked && cast.stop_asked(); }

void require_no_stop(const training_cast& cast) {
  if (is_stop_asked(cast)) throw call_error(error_kind::cancelled, "the run was stopped");
}

task<evaluation> unless_stopped(const training_cast& cast, task<evaluation> measuring) {
  std::exception_ptr failure;
  try {
    co_return co_await std::move(measuring);
  } catch (...) {
    failure = std::current_exception();
  }
  require_no_stop(cast);
  std::rethrow_exception(failure);
}

task<training_summary> run_from_the_start(training_cast& cast) {
  co_await cast.serve(nullptr);
  std::exception_ptr failure;
  try {
    co_await cast.train_until(cast.settings.updates, false);
  } catch (...) {
    failure = std::current_exception();
  }
  if (failure) {
    co_await keep_model_of_now(cast);
    std::rethrow_exception(failure);
  }
  if (cast.done.version < cast.settings.updates && !cast.done.over()) {
    throw call_error(error_kind::cancelled, "training was stopped");
  }
  co_return co_await cast.conclude();
}

void keep_last_model(training_cast& cast, const weights& last) {
  keep_model(cast, cast.directory.last_model(), last);
}

task<> keep_model_of_now(training_cast& cast) {
  // A trainer that is in the middle of an update ends it first.
  constexpr auto limit = std::chrono::seconds(5);
  try {
    const auto last = co_await with_timeout(cast.newest(), limit);
    keep_last_model(cast, last);
  } catch (const std::exception& e) {
    log::warn("the run ends without a model", {{"error", e.what()}});
  }
}

task<loops::verdict> after_update(training_cast& cast, const training_progress& before,
                                  loops::progress now) {
  co_await end_update(cast, whole_progress(cast, before, now));
  const bool stop = cast.done.over() || is_stop_asked(cast);
  co_return stop ? loops::verdict::stop : loops::verdict::go_on;
}

task<> make_up_for_stop(training_cast& cast) {
  auto& done = cast.done;
  const auto steps = std::exchange(done.owed, 0);
  if (steps == 0) co_return;
  const loops::progress now{.updates = done.version,
                            .steps = done.steps,
                            .steps_of_update = steps,
                            .episodes = done.episodes,
                            .version = done.version,
                            .seconds = done.wall};
  co_await end_update(cast, now);
}

void tell_staleness(training_summary& summary, const replay_counts& seen) {
  summary.staleness_mean = seen.staleness_mean();
  summary.staleness_max = seen.staleness_max;
  summary.stale_dropped = seen.stale;
  summary.stale_dropped_length = seen.stale_length_mean();
}

task<> record_evaluation(const training_cast& cast, evaluation seen) {
  co_await cast.records.route<&recorder::evaluation>(cast.done.steps, seen.mean, seen.std,
                                                     seen.mean_length);
}

double progress_remaining(const training_cast& cast) {
  const auto made = static_cast<double>(cast.done.steps);
  return std::max(0.0, 1.0 - made / static_cast<double>(cast.settings.total_steps));
}

void add_report(training_progress& done, const loops::report& report) {
  done.episodes += report.episodes;
  done.failed += report.failed;
  done.wall += report.wall;
  done.overlapped += report.overlap_fraction * report.wall;
}

training_summary summary_of(const training_cast& cast, const evaluation& final,
                            const weights& newest) {
  const auto& done = cast.done;
  return {.algo = cast.settings.algo,
          .env = cast.settings.env.id,
          .mode = cast.settings.mode,
          .seed = cast.settings.seed,
          .steps = done.steps,
          .start_s = done.start,
          .wall_s = done.wall,
          .cpu_s = process_cpu_seconds(),
          .steps_per_s = done.wall > 0 ? static_cast<double>(done.steps) / done.wall : 0,
          .eval_mean = final.mean,
          .eval_std = final.std,
          .eval_episodes = static_cast<std::int64_t>(final.returns.size()),
          .solved = cast.threshold() && final.mean >= *cast.threshold(),
          .reward_threshold = cast.threshold(),
          .stopped = done.over(),
          .rollouts_failed = done.failed,
          .overlap_fraction = done.wall > 0 ? done.overlapped / done.wall : 0,
          .metrics_port = cast.output.metrics_port,
          .resumed_from_step = cast.output.resumed_from_step,
          .weights_sha256 = newest.sha256,
          .run_directory = cast.directory.path().string()};
}

task<> finish_run(training_cast& cast, evaluation final, weights newest, training_summary summary) {
  if (cast.done.scores.evaluations == 0) {
    keep_model(cast, cast.directory.best_model(), newest);
  } else if (cast.done.evaluated != newest.version) {
    const auto seen = co_await evaluate_newest(cast);
    if (!seen) require_no_stop(cast);
  }
  // It may have been written, or not, in another segment.
  if (score_to_beat(cast) < cast.done.scores.best) {
    cast.unwritten.insert(cast.directory.best_model());
  }
  co_await record_evaluation(cast, final);
  const bool written = co_await cast.records.route<&recorder::finish>(summary.to_json());
  if (!written) cast.unwritten.insert(cast.directory.summary_json());
}

}  // namespace troupe
