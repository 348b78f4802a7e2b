#include "actors/metrics/training_metrics.hpp"

#include <fmt/format.h>

#include <array>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "actors/metrics/env_steps.hpp"
#include "runtime/metrics/registry.hpp"

namespace troupe {

namespace {

/// The large figures of the status page; see runtime/metrics/status_page.html.
constexpr auto tiles_of_environment = R"(
  {"label": "steps a second", "metric": "troupe_env_steps_total", "as": "rate"},
  {"label": "return of an episode", "metric": "troupe_episode_return", "as": "mean"},)";
constexpr auto tiles = R"(
  {"label": "updates a second", "metric": "troupe_train_steps_total", "as": "rate"},
  {"label": "staleness, versions", "metric": "troupe_policy_staleness_versions", "as": "mean"},
  {"label": "entropy", "metric": "troupe_train_entropy"},
  {"label": "gradient norm", "metric": "troupe_train_grad_norm"})";

/// A metric that is created with its first number, so that a number that an algorithm doesn't have
/// is not exported as 0.
template <class Handle>
class late {
 public:
  explicit late(std::function<Handle()> make) : make_(std::move(make)) {}
  const Handle& get() const {
    std::call_once(made_, [this] { handle_ = make_(); });
    return handle_;
  }

 private:
  std::function<Handle()> make_;
  mutable std::once_flag made_;
  mutable Handle handle_;
};

late<metric_gauge> late_gauge(metrics_registry& r, const char* name, const char* help) {
  return late<metric_gauge>([&r, name, help] { return r.gauge(name, help); });
}

const std::vector<double> seconds_of_updates = {.001, .0025, .005, .01, .025, .05, .1,
                                                .25,  .5,    1,    2.5, 5,    10,  60};

constexpr std::array<const char*, 4> failure_reasons = {"threw", "nonfinite", "shape", "lost"};
constexpr std::array<const char*, 2> replacement_reasons = {"episodes", "memory"};

}  // namespace

struct training_metrics::handles {
  handles(metrics_registry& r, const std::string& env);

  struct of_environment {
    of_environment(metrics_registry& r, const std::string& env);

    metric_counter env_steps;
    metric_counter episodes_terminated;
    metric_counter episodes_truncated;
    std::array<metric_counter, failure_reasons.size()> env_failures;
    std::array<metric_counter, replacement_reasons.size()> processes_replaced;
    metric_histogram episode_return;
    metric_histogram episode_length;
  };

  std::string env;
  std::optional<of_environment> environment;
  metric_counter rollouts_failed;
  mutable std::mutex mutex;  // of the next member
  mutable failed_rollouts failed;
  metric_counter write_failures;
  metric_histogram staleness;
  metric_gauge replay_items;
  metric_gauge replay_bytes;
  metric_counter replay_repeated;
  metric_counter replay_stale;
  metric_counter train_steps;
  metric_counter train_samples;
  metric_counter train_skipped;
  metric_histogram train_duration;
  late<metric_gauge> loss, kl, entropy, grad_norm, clip_ratio, lr, version;
  late<metric_histogram> sync_duration;
};

namespace {

metric_counter env_steps_counter(metrics_registry& registry, const std::string& env) {
  return registry.counter("troupe_env_steps_total", "Environment steps taken.", {{"env", env}});
}

metric_counter env_failures_counter(metrics_registry& registry, const std::string& env,
                                    const char* reason) {
  return registry.counter("troupe_env_failures_total",
                          "Episodes dropped because of the environment.",
                          {{"env", env}, {"reason", reason}});
}

}  // namespace

double env_steps(metrics_registry& registry, const std::string& env) {
  return env_steps_counter(registry, env).value();
}

double env_failures(metrics_registry& registry, const std::string& env) {
  double all = 0;
  for (const char* reason : failure_reasons)
    all += env_failures_counter(registry, env, reason).value();
  return all;
}

training_metrics::handles::of_environment::of_environment(metrics_registry& r,
                                                          const std::string& env) {
  const metric_labels on{{"env", env}};
  const auto labelled = [&](const char* key, const char* value) {
    auto both = on;
    both.emplace(key, value);
    return both;
  };
  env_steps = env_steps_counter(r, env);
  const auto* episodes = "Episodes that ended, by outcome.";
  episodes_terminated =
      r.counter("troupe_episodes_total", episodes, labelled("outcome", "terminated"));
  episodes_truncated =
      r.counter("troupe_episodes_total", episodes, labelled("outcome", "truncated"));
  for (std::size_t i = 0; i < failure_reasons.size(); ++i) {
    env_failures[i] = env_failures_counter(r, env, failure_reasons[i]);
  }
  for (std::size_t i = 0; i < replacement_reasons.size(); ++i) {
    processes_replaced[i] =
        r.counter("troupe_env_processes_replaced_total",
                  "Processes of environments in Python that were replaced between episodes.",
                  labelled("reason", replacement_reasons[i]));
  }
  episode_return = r.histogram(
      "troupe_episode_return", "Undiscounted return of an episode.",
      {-1000, -500, -200, -100, -50, 0, 10, 25, 50, 100, 200, 300, 400, 475, 500, 1000}, on);
  episode_length = r.histogram("troupe_episode_length_steps", "Length of an episode in steps.",
                               {5, 10, 25, 50, 100, 200, 300, 400, 500, 1000, 5000}, on);
}

training_metrics::handles::handles(metrics_registry& r, const std::string& env)
    : env(env),
      loss(late_gauge(r, "troupe_train_loss", "Total loss of the last update.")),
      kl(late_gauge(r, "troupe_train_kl", "Approximate KL divergence of the last update.")),
      entropy(
          late_gauge(r, "troupe_train_entropy", "Mean entropy of the policy in the last update.")),
      grad_norm(late_gauge(r, "troupe_train_grad_norm", "Mean gradient norm before clipping.")),
      clip_ratio(
          late_gauge(r, "troupe_train_clip_ratio", "Share of rows whose ratio was clipped.")),
      lr(late_gauge(r, "troupe_train_learning_rate", "Step size of the last update.")),
      version(late_gauge(r, "troupe_policy_version", "Version of the weights pushed last.")),
      sync_duration([&r] {
        return r.histogram(
            "troupe_weight_sync_duration_seconds",
            "Time from the end of an update until the last policy has its weights, in seconds.",
            seconds_of_updates);
      }) {
  r.show("training",
         fmt::format("{{\"tiles\": [{}{}]}}", env.empty() ? "" : tiles_of_environment, tiles));
  if (!env.empty()) environment.emplace(r, env);
  rollouts_failed =
      r.counter("troupe_rollouts_failed_total",
                "Episodes of a loop that ended with an error and were generated again.");
  write_failures = r.counter("troupe_run_write_failures_total",
                             "Records, curves and models of a run that could not be written.");
  staleness =
      r.histogram("troupe_policy_staleness_versions",
                  "Number of versions that sampled experience is behind the trainer's weights.",
                  {0, 1, 2, 4, 8, 16, 32});
  replay_items = r.gauge("troupe_replay_items", "Items that the replay holds.");
  replay_bytes =
      r.gauge("troupe_replay_bytes", "Size of the items that the replay holds, in bytes.");
  replay_repeated = r.counter("troupe_replay_repeated_total",
                              "Items that the replay dropped because they were inserted before.");
  replay_stale = r.counter("troupe_replay_stale_total",
                           "Items that the replay dropped because they were too stale.");
  train_steps = r.counter("troupe_train_steps_total", "Updates of the weights.");
  train_samples =
      r.counter("troupe_train_samples_total", "Rows trained on, each counted once per update.");
  train_skipped = r.counter("troupe_train_skipped_steps_total",
                            "Optimiser steps skipped because loss or gradient was not finite.");
  train_duration = r.histogram("troupe_train_step_duration_seconds",
                               "Time of one update, in seconds.", seconds_of_updates);
}

training_metrics::training_metrics(metrics_registry& registry, const std::string& env)
    : to_(std::make_shared<handles>(registry, env)) {}

std::optional<std::string> wire_codec<training_metrics>::env_of(const training_metrics& metrics) {
  return metrics.to_ ? std::optional(metrics.to_->env) : std::nullopt;
}

std::size_t wire_codec<training_metrics>::size(const training_metrics& metrics) {
  return wire_size(env_of(metrics));
}

void wire_codec<training_metrics>::write(const training_metrics& metrics, wire_writer& to) {
  to.write(env_of(metrics));
}

training_metrics wire_codec<training_metrics>::read(wire_reader& from) {
  const auto env = from.read<std::optional<std::string>>();
  if (!env) return {};
  return training_metrics(from.metrics("troupe::training_metrics"), *env);
}

void training_metrics::env_stepped(std::int64_t steps) const {
  if (to_ && to_->environment) to_->environment->env_steps.increment(static_cast<double>(steps));
}

void training_metrics::episode_ended(double episode_return, std::int64_t length,
                                     bool truncated) const {
  if (!to_ || !to_->environment) return;
  const auto& on = *to_->environment;
  (truncated ? on.episodes_truncated : on.episodes_terminated).increment();
  on.episode_return.observe(episode_return);
  on.episode_length.observe(static_cast<double>(length));
}

void training_metrics::env_failed(std::string_view reason) const {
  if (!to_ || !to_->environment) return;
  for (std::size_t i = 0; i < failure_reasons.size(); ++i) {
    if (reason == failure_reasons[i]) to_->environment->env_failures[i].increment();
  }
}

void training_metrics::env_process_replaced(std::string_view reason) const {
  if (!to_ || !to_->environment) return;
  for (std::size_t i = 0; i < replacement_reasons.size(); ++i) {
    if (reason == replacement_reasons[i]) to_->environment->processes_replaced[i].increment();
  }
}

void training_metrics::rollout_failed(const std::string& error) const {
  if (!to_) return;
  to_->rollouts_failed.increment();
  const std::lock_guard lock(to_->mutex);
  ++to_->failed.count;
  to_->failed.last_error = error;
}

failed_rollouts training_metrics::rollouts_failed() const {
  if (!to_) return {};
  const std::lock_guard lock(to_->mutex);
  return to_->failed;
}

void training_metrics::write_failed() const {
  if (to_) to_->write_failures.increment();
}

void training_metrics::batch_sampled(std::int64_t staleness) const {
  if (to_) to_->staleness.observe(static_cast<double>(staleness));
}

void training_metrics::replay_holds(std::size_t items, std::size_t bytes, std::int64_t repeated,
                                    std::int64_t stale) const {
  if (!to_) return;
  to_->replay_items.set(static_cast<double>(items));
  to_->replay_bytes.set(static_cast<double>(bytes));
  const auto raise = [](const metric_counter& counter, std::int64_t total) {
    const auto more = static_cast<double>(total) - counter.value();
    if (more > 0) counter.increment(more);
  };
  raise(to_->replay_repeated, repeated);
  raise(to_->replay_stale, stale);
}

void training_metrics::trained(std::int64_t rows, double seconds) const {
  if (!to_) return;
  to_->train_steps.increment();
  to_->train_samples.increment(static_cast<double>(rows));
  to_->train_duration.observe(seconds);
}

void training_metrics::steps_skipped(std::int64_t optimizer_steps) const {
  if (to_) to_->train_skipped.increment(static_cast<double>(optimizer_steps));
}

void training_metrics::updated(const update_figures& last) const {
  if (!to_) return;
  const auto set = [](const late<metric_gauge>& gauge, const std::optional<double>& value) {
    if (value) gauge.get().set(*value);
  };
  set(to_->loss, last.loss);
  set(to_->kl, last.kl);
  set(to_->entropy, last.entropy);
  set(to_->grad_norm, last.grad_norm);
  set(to_->clip_ratio, last.clip_ratio);
  set(to_->lr, last.lr);
}

void training_metrics::policy_version(std::int64_t version) const {
  if (to_) to_->version.get().set(static_cast<double>(version));
}

void training_metrics::weights_pushed(std::int64_t version, double seconds) const {
  if (!to_) return;
  policy_version(version);
  to_->sync_duration.get().observe(seconds);
}

}  // namespace troupe
