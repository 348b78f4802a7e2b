#include "actors/torch/torch.hpp"

#include "algorithms/run/first_update.hpp"

#include <chrono>

#include "actors/metrics/env_steps.hpp"
#include "algorithms/run/training_run.hpp"
#include "runtime/base/log.hpp"
#include "runtime/coroutine/combine.hpp"

namespace troupe {
namespace {

constexpr auto first_wait = std::chrono::seconds(5);
constexpr auto longest_wait = std::chrono::seconds(60);

/// Says what the run does until its first update.
task<> tell_until_first_update(training_run& run) {
  const auto env = run.settings.env.id;
  auto& metrics = run.sys.metrics();
  const auto first = env_steps(metrics, env);
  auto before = first;
  std::chrono::seconds wait = first_wait, waited{};
  while (run.progress.version == 0) {
    co_await sleep_for(wait);
    waited += wait;
    if (run.progress.version > 0) co_return;
    const auto now = env_steps(metrics, env);
    if (now > before) {
      log::info("experience is collected for the first update",
                {{"steps", static_cast<std::int64_t>(now - first)},
                 {"total_" + run.settings.labels.steps, run.settings.total_steps},
                 {"ms_per_step", 1000.0 * static_cast<double>(wait.count()) / (now - before)},
                 {"seconds", waited.count()}});
    } else {
      log::info("no step has ended since the last message: the first update, or a step, takes long",
                {{"steps", static_cast<std::int64_t>(now - first)}, {"seconds", waited.count()}});
    }
    before = now;
    wait = std::min(2 * wait, std::chrono::seconds(longest_wait));
  }
}

task<> train_beside_messages(group& beside, training_run& run, task<> training) {
  beside.start(tell_until_first_update(run));
  co_await std::move(training);
}

}  // namespace

task<> train_with_messages(training_run& run, task<> training) {
  const bool tells =
      !run.settings.deterministic && run.progress.version == 0 && !run.settings.env.id.empty();
  if (!tells) return training;
  return with_group(train_beside_messages, std::ref(run), std::move(training));
}

}  // namespace troupe
