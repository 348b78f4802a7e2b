#pragma once
// What the environments of a run practise: the level of a curriculum, or tasks in turn.

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

/// Grades the episodes that end in a run's environments, and tells all of these what comes next.
/// Messages are of control priority: they don't wait for the steps queued at a replica.
class practice {
 public:
  /// Throws config_error naming the option if the environment has no levels for a curriculum, or
  /// if its tasks don't go together.
  explicit practice(const env_section& env);
  /// Whether there is anything to choose.
  static bool is_needed(const env_section& env) { return env.curriculum || env.tasks; }

  /// The role in which the run's environments are replicated; it has hosted_environment's
  /// set_level, set_turns and take_graded.
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

  /// Tells all replicas what to practise, also those that know it: one that was restarted knows
  /// nothing.
  task<> tell();
  /// Takes in the episodes that have ended since the last call, before update number `updates`, and
  /// tells what comes next. Whether training is to end, as the level is mastered or the tasks are
  /// learned, if the options say so.
  task<bool> take_in(std::int64_t updates);

  /// What is known of it, as columns of progress.csv.
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

/// The settings of a run whose environment is called after its tasks, if it has some; options that
/// then change nothing, or change nothing without, are among the idle ones.
run_settings with_practice(run_settings settings);

}  // namespace troupe
