#include "algorithms/run/task_selector.hpp"

#include <stdexcept>

#include "actors/checkpoint/state.hpp"
#include "runtime/base/log.hpp"

namespace troupe {

namespace {

/// The specification of the environment. Throws config_error if its tasks can't be combined.
env_spec spec_of_tasks(const env_section& env) {
  if (!env.tasks) return spec_of(env);
  if (env.tasks->empty()) throw config_error("/env/tasks", "expected null or tasks, got none");
  try {
    return spec_of(env);
  } catch (const std::invalid_argument& e) {
    throw config_error("/env/tasks", e.what());
  }
}

}  // namespace

task_selector::task_selector(const env_section& env) {
  const auto spec = spec_of_tasks(env);
  if (env.curriculum && env.tasks) {
    throw config_error("/env/curriculum",
                       "expected null with env.tasks, each of which is at its last level");
  }
  if (env.curriculum) {
    if (spec.levels < 2) {
      throw config_error(
          "/env/curriculum",
          "expected null, as " + env.id +
              " tells no levels: its spec has 1 (env_spec::levels; an environment in Python has an "
              "integer `levels` > 1 and a method set_level(level))");
    }
    levels_.emplace(env.curriculum->options(spec.levels));
    stops_ = env.curriculum->stop_when_mastered;
  }
  if (env.tasks) {
    try {
      schedule_.emplace(env.schedule.options(*env.tasks));
    } catch (const std::invalid_argument& e) {
      throw config_error("/env/tasks", e.what());
    }
    tasks_ = env.tasks->size();
    stops_ = env.schedule.stop_when_learned;
  }
}

/// The next turns of all replicas together. The schedule advances only once the episodes of turns
/// have ended, so turns that no replica reaches are given again.
std::vector<std::size_t> task_selector::next_turns() const {
  constexpr std::size_t rounds = 64;  // more than an update needs; after the last, turns repeat
  auto schedule = *schedule_;
  std::vector<std::size_t> turns(rounds * tasks_ * replicas_);
  for (auto& turn : turns) turn = schedule.next();
  return turns;
}

task<> task_selector::tell() {
  if (levels_) co_await set_level_(levels_->level());
  if (schedule_) co_await set_turns_(next_turns());
}

task<bool> task_selector::take_in(std::int64_t updates) {
  if (!take_) {
    throw std::logic_error(
        "the algorithm did not say which role its environments are: expected "
        "a call of training_run::practise_on");
  }
  const auto graded = co_await take_();
  if (levels_) {
    const auto before = levels_->level();
    for (const auto& episode : graded) levels_->ended(episode);
    if (levels_->level() != before) {
      log::info("the curriculum's level changed",
                {{"level", levels_->level()}, {"before", before}, {"updates", updates}});
    }
  }
  if (schedule_) {
    for (std::size_t i = 0; i < graded.size(); ++i) schedule_->next();
    for (const auto& episode : graded) schedule_->ended(episode.task, episode.episode_return);
  }
  co_await tell();
  co_return !stopped_by().empty();
}

std::string task_selector::stopped_by() const {
  if (!stops_) return "";
  if (levels_) return levels_->mastered() ? "env.curriculum.stop_when_mastered" : "";
  return schedule_->learned() ? "env.schedule.stop_when_learned" : "";
}

std::map<std::string, double> task_selector::columns() const {
  std::map<std::string, double> columns;
  if (levels_) {
    columns["rollout/level"] = static_cast<double>(levels_->level());
    columns["rollout/success_rate"] = levels_->success_rate();
  }
  if (!schedule_) return columns;
  for (const auto& task : schedule_->measured()) {
    if (task.episodes > 0) columns["rollout/" + task.name + "/ep_rew_mean"] = task.mean_return;
  }
  return columns;
}

std::string task_selector::save() const {
  state_writer to;
  if (levels_) to.put("levels", levels_->save());
  if (schedule_) to.put("schedule", schedule_->save());
  return to.bytes();
}

void task_selector::restore(const std::string& bytes) {
  const state_reader from(bytes);
  if (levels_) levels_->restore(from.get<std::string>("levels"));
  if (schedule_) schedule_->restore(from.get<std::string>("schedule"));
}

run_settings with_task_selector(run_settings settings) {
  settings.env.id = settings.env.name();
  return settings;
}

}  // namespace troupe
