#include "actors/torch/torch.hpp"

#include "algorithms/run/failing_environment.hpp"

#include <fmt/format.h>

#include <chrono>

#include "actors/environments/hosted_environment.hpp"
#include "actors/environments/metrics_observers.hpp"
#include "actors/metrics/env_steps.hpp"
#include "algorithms/run/training_run.hpp"
#include "runtime/coroutine/combine.hpp"

namespace troupe {
namespace {

constexpr auto watch_interval = std::chrono::seconds(1);
/// Failures that come faster than this are those of hosted_environment and of the service.
constexpr auto shortest_failing = std::chrono::seconds(20);
/// The number of dropped episodes for each environment.
constexpr std::size_t dropped_max = 5;
/// A rollout fails after several resets of an environment, each of which may take the whole limit.
/// The loop makes 20 attempts at each, which would take hours.
constexpr int reset_timeouts_max = 5;
constexpr std::int64_t failed_rollouts_max = 2;  // for each replica

task<> train_beside_watch(group& beside, training_run& run, task<> training) {
  const auto& env = run.settings.env;
  const auto replicas = static_cast<std::size_t>(env.replicas);
  beside.start(
      watch_environments(run.sys.metrics(), run.metrics,
                         {.id = env.id,
                          .count = static_cast<std::size_t>(env.n_envs) * replicas,
                          .replicas = replicas,
                          .reset_timeout = std::chrono::duration<double>(env.reset_timeout)}));
  co_await std::move(training);
}

}  // namespace

task<> watch_environments(metrics_registry& metrics, training_metrics rollouts,
                          watched_environments of) {
  const auto most = static_cast<double>(dropped_max * of.count);
  const auto most_rollouts = failed_rollouts_max * static_cast<std::int64_t>(of.replicas);
  auto steps = env_steps(metrics, of.id);
  auto before = env_failures(metrics, of.id);
  auto rollouts_before = rollouts.rollouts_failed().count;
  std::chrono::seconds waited{};
  for (;;) {
    co_await sleep_for(watch_interval);
    waited += watch_interval;
    const auto failures = env_failures(metrics, of.id);
    const auto failed = rollouts.rollouts_failed();
    if (const auto now = env_steps(metrics, of.id); now != steps) {
      steps = now;
      before = failures;
      rollouts_before = failed.count;
      waited = {};
      continue;
    }
    if (waited < shortest_failing) continue;
    if (failures - before >= most)
      throw environment_failed(
          fmt::format("{}: {} episodes were dropped, and no environment has taken a step in {} s{}",
                      of.id, failures - before, waited.count(), last_failure_text(of.id)));
    if (failed.count - rollouts_before >= most_rollouts &&
        waited >= reset_timeouts_max * of.reset_timeout)
      throw environment_failed(fmt::format(
          "{}: {} rollouts have failed, and no environment has taken a step in {} s: {}", of.id,
          failed.count - rollouts_before, waited.count(), failed.last_error));
  }
}

task<> train_while_environments_step(training_run& run, task<> training) {
  const auto& settings = run.settings;
  if (settings.deterministic || settings.env.id.empty() || !settings.model.empty()) return training;
  return with_group(train_beside_watch, std::ref(run), std::move(training));
}

}  // namespace troupe
