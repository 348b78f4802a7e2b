#include "actors/torch/torch.hpp"

#include "algorithms/run/training_run.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <limits>
#include <ranges>

#include "actors/networks/device_memory.hpp"
#include "actors/random/derived_seed.hpp"
#include "actors/recorder/pretty_json.hpp"
#include "actors/torch/torch_seed.hpp"
#include "algorithms/run/algorithm.hpp"
#include "algorithms/run/failing_environment.hpp"
#include "algorithms/run/first_update.hpp"
#include "algorithms/run/run_state.hpp"
#include "runtime/base/log.hpp"
#include "runtime/coroutine/combine.hpp"
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

/// The progress of the whole run for callbacks; `now` is that of a loop that began at `before`.
loops::progress whole_progress(const run_progress& progress, const run_progress& before,
                               loops::progress now) {
  now.updates = progress.version;
  now.steps = progress.steps;
  now.episodes += before.episodes;
  now.seconds += before.wall;
  return now;
}

/// Shows a recorded value in /metrics, and so on the status page.
void show_recorded(metrics_registry& metrics, const std::string& column, double value) {
  metrics
      .gauge("troupe_recorded_value", "Values that a callback, a hook or a role recorded.",
             {{"column", column}})
      .set(value);
}

/// Shows the memory of the GPU that the networks are on. There are no such metrics without one.
void show_device_memory(metrics_registry& metrics, const std::string& device) {
  if (device == "cpu") return;
  const auto memory = detail::memory_of_device(detail::index_of_device(device));
  if (!memory) return;
  metrics
      .gauge("troupe_device_memory_free_bytes", "Free memory of the GPU of the networks, in bytes.",
             {{"device", device}})
      .set(static_cast<double>(memory->free));
  metrics
      .gauge("troupe_device_memory_total_bytes", "Memory of the GPU of the networks, in bytes.",
             {{"device", device}})
      .set(static_cast<double>(memory->total));
}

}  // namespace

bool reaches_goal(const loops::score_history& scores, const evaluation_section& of) {
  return of.stop_at && scores.evaluations > 0 && scores.last >= *of.stop_at;
}

// ---- services --------------------------------------------------------------------------------

training_run::training_run(system& sys, const algorithm& what, run_output output,
                           run_callbacks callbacks, std::function<bool()> stop_asked)
    : sys(sys),
      settings(what.settings),
      output(std::move(output)),
      callbacks(std::move(callbacks)),
      metrics(sys.metrics(), settings.without_environment ? "" : settings.env.id),
      stop_asked(std::move(stop_asked)),
      algorithm_(what.make ? (seed_torch_for_update(), what.make(*this)) : nullptr) {
  if (task_selector::is_needed(settings.env)) task_selector_.emplace(settings.env);
}

training_run::~training_run() {
  for (const auto& stop : std::views::reverse(to_stop_)) stop();
}

serve_options training_run::prepared(serve_options options) const {
  options.name = output.prefix + options.name;
  // A run that goes on has what is left after the loss of a node. A new one waits for its nodes.
  if (goes_on_ && options.placement.on_node() && !settings.deterministic) options.min_ready = 1;
  if (!sys.options().faults.any() || !options.faults) return options;
  options.deadline = no_limit;  // a call whose message is dropped on purpose must not time out
  options.max_restarts = options.max_retries = options.poison_limit = 1'000'000;
  options.backoff_limit = std::chrono::milliseconds(100);
  return options;
}

task<> training_run::serve_roles(const checkpoint* from) {
  goes_on_ = from != nullptr;
  if (from) begin_from(*this, *from);
  if (from && task_selector_) task_selector_->restore(file_of(*from, "practice.cbor"));
  co_await serve_recorder(from);
  co_await serve_weight_store(from);
  seed_torch_for_update();  // for networks that are made now
  co_await algorithm_->serve(from);
  serves_ = true;
}

/// Opens or makes the run directory. This happens before the recorder is served, because an error
/// in the recorder's replica would not be thrown here.
held_run training_run::hold_directory() const {
  if (!output.directory.empty()) return {run_directory::open(output.directory), output.lock};
  return begin_run(output.root, settings.algo, settings.env.id,
                   pretty_json(settings.config, "configuration"));
}

task<> training_run::serve_recorder(const checkpoint* from) {
  const auto& s = settings;
  auto held = hold_directory();
  directory = std::move(held.directory);
  lock = std::move(held.lock);
  recorder_options recorded{
      .directory = directory.path(),
      .saved = from ? file_of(*from, "recorder.bin") : std::string(),
      .algo = s.algo,
      .env = s.env.id,
      .config = s.config,
      .total_steps = s.total_steps,
      .labels = s.labels,
      .threshold = algorithm_->threshold(),
      .info = s.env.info,
      .table = output.table,
      .table_to_stderr = output.table_to_stderr,
      .progress_bar = output.progress_bar,
      .board_changed = [metrics = &sys.metrics(), name = output.prefix + "run"](
                           std::string board) { metrics->show(name, std::move(board)); },
      .noted = [metrics = &sys.metrics()](const std::string& column,
                                          double value) { show_recorded(*metrics, column, value); },
      .returns_are_equal = returns_are_equal,
      .on_failure = [](const std::string& what) { log::error(what); },
      .write_failed = [metrics = metrics] { metrics.write_failed(); }};
  // The recorder stands for the disk, so it is not restarted and no faults are injected into it.
  serve_options options{.name = "recorder", .max_restarts = 0, .faults = false};
  records = co_await serve<recorder>(std::move(options), std::move(recorded));
  // The status page has a tile for each value that is recorded, as soon as there is one.
  sys.metrics().show("recorded",
                     R"({"tiles": [{"each": "column", "metric": "troupe_recorded_value"}]})");
  const auto path = directory.path().string();
  if (output.directory.empty()) {
    log::info("a run begins", {{"algo", s.algo}, {"env", s.env.id}, {"directory", path}});
  } else if (output.resumed_from_step == progress.steps) {
    log::info("a run goes on", {{"directory", path}, {"step", progress.steps}});
  }
}

/// Serves the store from which trainers and policies take the newest weights.
task<> training_run::serve_weight_store(const checkpoint* from) {
  serve_options keeping{
      .name = "weights",
      .idempotent = {endpoint<&weight_store::put>, endpoint<&weight_store::get>,
                     endpoint<&weight_store::latest>, endpoint<&weight_store::versions>}};
  auto storage = std::make_shared<weight_store::storage>();
  store = co_await serve<weight_store>(std::move(keeping), std::size_t{3}, std::move(storage));
  if (from) co_await store.route<&weight_store::put>(weights_of(*from));
}

// ---- training --------------------------------------------------------------------------------

task<> training_run::train_until(std::int64_t version, bool drain) {
  steps_before_update_ = progress.steps;
  using clock = std::chrono::steady_clock;
  const auto seconds_since = [](clock::time_point then) {
    return std::chrono::duration<double>(clock::now() - then).count();
  };
  // In a deterministic run, seconds are those of virtual time.
  const bool goes_on = trained_until && !settings.deterministic;
  const auto began = clock::now();
  if (goes_on) progress.wall += seconds_since(*trained_until);
  const double before = progress.wall;
  auto training = train_while_environments_step(*this, algorithm_->train_until(version, drain));
  co_await train_with_messages(*this, std::move(training));
  // The loops count from the first rollout to the last update, and all of the time counts here.
  if (goes_on) progress.wall = before + seconds_since(began);
  trained_until = clock::now();
}

task<run_summary> training_run::train_from_the_start() {
  co_await serve_roles(nullptr);
  std::exception_ptr failure;
  try {
    co_await train_until(settings.updates, false);
  } catch (...) {
    failure = std::current_exception();
  }
  if (failure) {
    co_await keep_model_of_now();
    std::rethrow_exception(failure);
  }
  if (progress.version < settings.updates && !progress.over()) {
    throw call_error(error_kind::cancelled, "training was stopped");
  }
  co_return co_await conclude();
}

task<checkpoint> training_run::save() {
  auto state = co_await begin_checkpoint(*this);
  if (task_selector_) state.files["practice.cbor"] = task_selector_->save();
  co_await algorithm_->save(state);
  co_return state;
}

task<> training_run::practise() {
  const bool ends = co_await task_selector_->take_in(progress.version);
  progress.stopped = progress.stopped || ends;
}

task<loops::verdict> training_run::after_update(const run_progress& before, loops::progress now) {
  now = whole_progress(progress, before, now);
  now.steps_of_update = progress.steps - std::exchange(steps_before_update_, progress.steps);
  if (callbacks.on_update) co_await tell_update(now);
  co_await control.tell();
  co_await end_update(now);
  const bool stop = progress.over() || is_stop_asked();
  co_return stop ? loops::verdict::stop : loops::verdict::go_on;
}

task<> training_run::record(progress_row row) {
  if (task_selector_) row.values.merge(task_selector_->columns());
  if (callbacks.on_update) {
    row_ = std::move(row);
  } else {
    co_await records.route<&recorder::record>(std::move(row));
  }
}

/// Calls on_update and writes the update's row, even if on_update throws.
task<> training_run::tell_update(loops::progress now) {
  auto said = loops::verdict::go_on;
  std::exception_ptr failure;
  control.saw_row(row_ ? row_->values : std::map<std::string, double>());
  try {
    said = co_await callbacks.on_update(now, control);
  } catch (...) {
    failure = std::current_exception();
  }
  for (const auto& [name, value] : control.kept().values) show_recorded(sys.metrics(), name, value);
  show_device_memory(sys.metrics(), settings.network.device);
  if (auto row = std::exchange(row_, std::nullopt)) {
    control.write(row->values);
    co_await records.route<&recorder::record>(std::move(*row));
  }
  if (failure) std::rethrow_exception(failure);
  progress.stopped = progress.stopped || said == loops::verdict::stop;
}

task<> training_run::make_up_for_stop() {
  const auto steps = std::exchange(progress.owed, 0);
  if (steps == 0) co_return;
  const loops::progress now{.updates = progress.version,
                            .steps = progress.steps,
                            .steps_of_update = steps,
                            .episodes = progress.episodes,
                            .version = progress.version,
                            .seconds = progress.wall};
  co_await end_update(now);
}

/// Evaluates if another `every_steps` have passed, then calls the callback `called`.
task<> training_run::end_update(loops::progress now) {
  const auto every = settings.evaluation.every_steps;
  const auto before = progress.steps - now.steps_of_update;
  if (every > 0 && progress.steps / every != before / every) {
    const auto result = co_await evaluate_and_decide(now);
    if (!result && is_stop_asked()) progress.owed = now.steps_of_update;
  }
  if (progress.owed > 0 || !callbacks.on_update_end) co_return;
  const auto said = co_await callbacks.on_update_end(now);
  progress.stopped = progress.stopped || said == loops::verdict::stop;
}

double training_run::progress_remaining() const {
  const auto made = static_cast<double>(progress.steps);
  const auto whole = settings.schedule_steps > 0 ? settings.schedule_steps : settings.total_steps;
  return std::max(0.0, 1.0 - made / static_cast<double>(whole));
}

std::uint64_t training_run::seed_of_segment(std::string_view use) const {
  return derived_seed(settings.seed, use, {static_cast<std::uint64_t>(progress.version)});
}

void training_run::seed_torch_for_update() const {
  const auto version = static_cast<std::uint64_t>(progress.version);
  seed_torch(derived_seed(settings.seed, "libtorch", {version}), settings.network.device != "cpu");
}

void training_run::add_report(const loops::report& report) {
  progress.episodes += report.episodes;
  progress.failed += report.failed;
  progress.wall += report.wall;
  progress.overlapped += report.overlap_fraction * report.wall;
}

void training_run::require_no_stop() const {
  if (is_stop_asked()) throw call_error(error_kind::cancelled, "the run was stopped");
}

// ---- models and evaluations ------------------------------------------------------------------

task<weights> training_run::newest() { return algorithm_->newest(); }

namespace {

task<weights> published(service<weight_store> from) {
  auto last = co_await from.route<&weight_store::latest>();
  co_return last;
}

}  // namespace

void training_run::keep_model(const std::filesystem::path& path, const weights& newest,
                              std::optional<double> score) {
  try {
    algorithm_->write_model(path, newest, score);
    unwritten.erase(path);
  } catch (const std::exception& e) {
    unwritten.insert(path);
    metrics.write_failed();
    log::error("a model was not saved; training goes on", {{"error", e.what()}});
  }
}

void training_run::keep_last_model(const weights& last) {
  keep_model(directory.last_model(), last);
  version_of_last_model = progress.version;
}

task<> training_run::keep_model_of_now() {
  // A trainer in the middle of an update finishes that update before it answers.
  std::exception_ptr late;
  try {
    const auto last = co_await with_timeout(newest(), sys.options().stop_limit / 2);
    keep_last_model(last);
  } catch (...) {
    late = std::current_exception();
  }
  if (!late) co_return;
  log::warn("an update does not end in time, so last_model gets the weights from before it",
            {{"error", describe(late)}});
  co_await keep_published_model();
}

task<> training_run::keep_published_model() {
  try {
    const auto last = co_await with_timeout(published(store), sys.options().stop_limit / 10);
    keep_last_model(last);
    log::info("last_model has the last weights that were published", {{"version", last.version}});
  } catch (const std::exception& e) {
    log::warn("the run ends without a model", {{"error", e.what()}});
  }
}

/// Returns the score of the best model on the disk. The file may be newer than the checkpoint that
/// the run went on from, or older than the best evaluation, if the disk did not take that model. A
/// model file without a score counts as the best evaluation that the run knows of.
double training_run::score_to_beat() const {
  constexpr auto none = -std::numeric_limits<double>::infinity();
  const auto path = directory.best_model();
  std::error_code unknown;
  if (!std::filesystem::exists(path, unknown) && !unknown) return none;
  try {
    return algorithm_->kept_score(path).value_or(progress.scores.best);
  } catch (const std::exception& e) {
    log::warn("the best model can't be read", {{"error", e.what()}});
    return progress.scores.best;
  }
}

/// Evaluates the newest weights, and keeps them if they are the best so far. Returns none if a stop
/// request ends the evaluation, or if it fails, which is logged.
task<std::optional<evaluation>> training_run::evaluate_newest() {
  auto last = co_await newest();
  const auto episodes = static_cast<std::size_t>(settings.evaluation.episodes);
  // The weights' version decides the seed, so a resumed run plays the same evaluations.
  const auto seed =
      derived_seed(settings.seed, "evaluation", {static_cast<std::uint64_t>(last.version)});
  evaluation result;
  std::exception_ptr failure;
  try {
    result = co_await algorithm_->evaluate(last, episodes, seed);
  } catch (...) {
    failure = std::current_exception();
  }
  if (failure && is_stop_asked()) co_return std::nullopt;
  if (failure) {
    log::warn("training goes on without an evaluation",
              {{"env", settings.env.id}, {"error", describe(failure)}});
    co_return std::nullopt;
  }
  log::info("the newest weights were evaluated", {{settings.labels.steps, progress.steps},
                                                  {"mean", result.mean},
                                                  {"std", result.std},
                                                  {"episodes", result.returns.size()}});
  co_await record_evaluation(result);
  progress.evaluated = last.version;
  const bool best = result.mean > score_to_beat();
  progress.scores.add(result.mean);
  if (best) keep_model(directory.best_model(), last, result.mean);
  co_return result;
}

task<std::optional<evaluation>> training_run::evaluate_and_decide(loops::progress now) {
  auto result = co_await evaluate_newest();
  if (!result) co_return std::nullopt;
  if (callbacks.on_evaluation) co_await callbacks.on_evaluation(now, *result);
  progress.at_goal = reaches_goal(progress.scores, settings.evaluation);
  const auto has_enough = [this](const auto& rule) { return rule(progress.scores); };
  progress.stopped = progress.stopped || std::ranges::any_of(callbacks.stop, has_enough);
  co_return result;
}

task<> training_run::record_evaluation(evaluation seen) {
  auto more = std::move(seen.columns);
  for (std::size_t i = 0; i < seen.task_means.size(); ++i) {
    more["eval/" + settings.env.tasks->at(i).id + "/mean_reward"] = seen.task_means[i];
  }
  co_await records.route<&recorder::evaluation>(progress.steps, seen.mean, seen.std,
                                                seen.mean_length, std::move(more));
}

/// Makes the evaluation at the end. Throws call_error of kind cancelled if the run is asked to
/// stop.
task<evaluation> training_run::evaluate_unless_stopped(weights last) {
  std::exception_ptr failure;
  try {
    co_return co_await algorithm_->evaluate_at_the_end(std::move(last));
  } catch (...) {
    failure = std::current_exception();
  }
  require_no_stop();
  std::rethrow_exception(failure);
}

// ---- the end ---------------------------------------------------------------------------------

task<run_summary> training_run::conclude() {
  log::info("training has ended, and the last evaluation begins",
            {{settings.labels.steps, progress.steps}});
  const auto seen = co_await algorithm_->counts();
  const auto last = co_await newest();
  keep_last_model(last);
  const auto final = co_await evaluate_unless_stopped(last);
  const auto summary = summary_of(final, last, seen);
  co_await finish(final, last, summary);
  co_return summary;
}

/// The summary's stop_reason. It follows from the rest of the state, so no checkpoint has it.
std::string training_run::stop_reason() const {
  if (!progress.over()) return "";
  if (progress.at_goal) return "evaluation.stop_at";
  const auto option = task_selector_ ? task_selector_->stopped_by() : "";
  return option.empty() ? "callback" : option;
}

run_summary training_run::summary_of(const evaluation& final, const weights& newest,
                                     const replay_counts& seen) const {
  const auto threshold = algorithm_->threshold();
  std::vector<std::pair<std::string, double>> agents;
  for (std::size_t i = 0; i < final.agent_names.size(); ++i) {
    agents.emplace_back(final.agent_names[i], final.agent_means[i]);
  }
  return {
      .algo = settings.algo,
      .env = settings.env.id,
      .mode = settings.mode,
      .seed = settings.seed,
      .steps = progress.steps,
      .start_s = progress.start,
      .wall_s = progress.wall,
      .cpu_s = process_cpu_seconds(),
      .steps_per_s = progress.wall > 0 ? static_cast<double>(progress.steps) / progress.wall : 0,
      .eval_mean = final.mean,
      .eval_std = final.std,
      .eval_episodes = static_cast<std::int64_t>(final.returns.size()),
      .eval_agents = std::move(agents),
      .solved = threshold && final.mean >= *threshold,
      .reward_threshold = threshold,
      .stopped = progress.over(),
      .stop_reason = stop_reason(),
      .rollouts_failed = progress.failed,
      .staleness_mean = seen.staleness_mean(),
      .staleness_max = seen.staleness_max,
      .stale_dropped = seen.stale,
      .stale_dropped_length = seen.stale_length_mean(),
      .overlap_fraction = progress.wall > 0 ? progress.overlapped / progress.wall : 0,
      .metrics_port = output.metrics_port,
      .resumed_from_step = output.resumed_from_step,
      .weights_sha256 = newest.sha256,
      .run_directory = directory.path().string()};
}

/// Records the evaluation at the end and the summary. The best model is the one with the best mean
/// among evaluations of evaluation.episodes episodes. The last weights get such an evaluation, too,
/// if they have had none, because a mean over final_episodes can't be compared with the largest of
/// many means over fewer episodes. Files that can't be written are added to `unwritten`.
task<> training_run::finish(evaluation final, weights newest, run_summary summary) {
  if (progress.scores.evaluations == 0) {
    keep_model(directory.best_model(), newest);
  } else if (progress.evaluated != newest.version) {
    const auto seen = co_await evaluate_newest();
    if (!seen) require_no_stop();
  }
  // An earlier segment may have failed to write the best model.
  if (score_to_beat() < progress.scores.best) {
    unwritten.insert(directory.best_model());
  }
  co_await record_evaluation(final);
  const bool written = co_await records.route<&recorder::finish>(summary.to_json());
  if (!written) unwritten.insert(directory.summary_json());
}

}  // namespace troupe
