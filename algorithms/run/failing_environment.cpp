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

task<> train_beside_watch(group& beside, training_run& run, task<> training) {
  const auto& env = run.settings.env;
  const auto count = static_cast<std::size_t>(env.n_envs) * static_cast<std::size_t>(env.replicas);
  beside.start(watch_environments(run.sys.metrics(), env.id, count));
  co_await std::move(training);
}

}  // namespace

task<> watch_environments(metrics_registry& metrics, std::string env, std::size_t count) {
  const auto most = static_cast<double>(dropped_max * count);
  auto steps = env_steps(metrics, env);
  auto before = env_failures(metrics, env);
  std::chrono::seconds waited{};
  for (;;) {
    co_await sleep_for(watch_interval);
    waited += watch_interval;
    const auto failures = env_failures(metrics, env);
    if (const auto now = env_steps(metrics, env); now != steps) {
      steps = now;
      before = failures;
      waited = {};
    } else if (waited >= shortest_failing && failures - before >= most) {
      throw environment_failed(
          fmt::format("{}: {} episodes were dropped, and no environment has taken a step in {} s{}",
                      env, failures - before, waited.count(), last_failure_text(env)));
    }
  }
}

task<> train_while_environments_step(training_run& run, task<> training) {
  const auto& settings = run.settings;
  if (settings.deterministic || settings.env.id.empty() || !settings.model.empty()) return training;
  return with_group(train_beside_watch, std::ref(run), std::move(training));
}

}  // namespace troupe
