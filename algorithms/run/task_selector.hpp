#pragma once
// Chooses what the environments of a run practise: the level of a curriculum, or one of several
// tasks. training_run uses it.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/loops/curriculum.hpp"
#include "algorithms/loops/task_schedule.hpp"
#include "algorithms/run/config.hpp"
#include "algorithms/run/settings.hpp"

namespace troupe {

/// Grades the episodes that end in a run's environments and tells the environments what to practise
/// next. Its messages have control priority, so they don't wait for the steps queued at a replica.
class task_selector {
 public:
  /// Throws config_error naming the option if the environment has no levels for a curriculum, or
  /// if its tasks don't go together.
  explicit task_selector(const env_section& env);
  /// True if the configuration has a curriculum or tasks.
  static bool is_needed(const env_section& env) { return env.curriculum || env.tasks; }

  /// Sets the service of the run's environments. Role has hosted_environment's set_level, set_turns
  /// and take_graded.
  template <class Role>
  void use(service<Role> environments, std::size_t replicas) {
    replicas_ = replicas;
    const auto urgent = environments.with({.priority = priority::control});
    take_ = [urgent] { return take_graded(urgent); };
    set_level_ = [urgent](std::size_t level) { return set_level(urgent, level); };
    set_turns_ = [urgent, replicas](std::vector<std::size_t> turns) {
      return set_turns(urgent, std::move(turns), replicas);
    };
  }

  /// Tells all replicas what to practise. It tells those that know it, too, because a replica that
  /// was restarted knows nothing.
  task<> tell();
  /// Grades the episodes that have ended since the last call and tells the replicas what to
  /// practise next. `updates`, the number of updates so far, is for the log. Returns true if
  /// training is to end because stop_when_mastered or stop_when_learned is set and holds.
  task<bool> take_in(std::int64_t updates);

  /// The option because of which training is to end, such as env.curriculum.stop_when_mastered.
  /// Empty if it is not to end.
  std::string stopped_by() const;

  /// The level and success rate, or the mean return of each task, as columns of progress.csv.
  std::map<std::string, double> columns() const;

  std::string save() const;
  /// Goes on from what `save` gave. Throws state_error if it had other levels or tasks.
  void restore(const std::string& bytes);

 private:
  template <class Role>
  static task<std::vector<graded_episode>> take_graded(service<Role> environments) {
    auto answers = co_await environments.template fanout_settled<&Role::take_graded>();
    std::vector<graded_episode> all;
    loops::detail::use_answers(answers, [&](auto& answer) {
      for (const graded_episode& episode : answer.value()) all.push_back(episode);
    });
    co_return all;
  }
  template <class Role>
  static task<> set_level(service<Role> environments, std::size_t level) {
    auto told = co_await environments.template fanout_settled<&Role::set_level>(level);
    loops::detail::use_answers(told, [](auto& answer) { answer.value(); });
  }
  template <class Role>
  static task<> set_turns(service<Role> environments, std::vector<std::size_t> turns,
                          std::size_t replicas) {
    auto told =
        co_await environments.template fanout_settled<&Role::set_turns>(std::move(turns), replicas);
    loops::detail::use_answers(told, [](auto& answer) { answer.value(); });
  }

  std::vector<std::size_t> next_turns() const;

  bool stops_ = false;
  std::optional<loops::curriculum_levels> levels_;
  std::optional<loops::task_schedule> schedule_;
  std::size_t tasks_ = 0;
  std::size_t replicas_ = 0;
  std::function<task<std::vector<graded_episode>>()> take_;
  std::function<task<>(std::size_t)> set_level_;
  std::function<task<>(std::vector<std::size_t>)> set_turns_;
};

/// Returns the settings with the environment named after its tasks, if it has some.
run_settings with_task_selector(run_settings settings);

}  // namespace troupe
