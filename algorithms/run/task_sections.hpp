#pragma once
// The options of a run that choose what its environments practise: the levels of a curriculum, or
// several tasks.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/loops/curriculum_levels.hpp"
#include "algorithms/loops/task_schedule.hpp"
#include "runtime/config/config.hpp"

namespace troupe {

/// The options of a curriculum.
struct curriculum_section {
  double promote_at = 0.8;         ///< The success rate at which the next level begins.
  int window = 100;                ///< The rate is over the last so many episodes at a level.
  std::int64_t min_episodes = 20;  ///< A level is not left before so many episodes.
  /// The success rate at which the level before begins again. None means never.
  std::optional<double> demote_at = {};
  bool stop_when_mastered = false;  ///< Training ends once the last level's rate is promote_at.

  loops::curriculum_options options(std::size_t levels) const;
};

/// One of several tasks.
struct task_section {
  std::string id;     ///< The name of the task's environment.
  double floor = 0;   ///< The return of a policy that has learned nothing.
  double target = 1;  ///< The return at which the task counts as learned.
  double weight = 1;  ///< The task's share of the turns, if the rule is proportional.
};

/// The options of the schedule that chooses among tasks.
struct schedule_section {
  loops::schedule_rule rule = loops::schedule_rule::round_robin;
  int window = 100;  ///< A task's mean return is over its last so many episodes.
  /// With by_need, a task gets a turn after so many turns of others; 0 means the number of tasks.
  std::int64_t longest_wait = 0;
  bool stop_when_learned = false;  ///< Training ends once all tasks have reached their targets.

  loops::schedule_options options(const std::vector<task_section>& tasks) const;
};

void describe(options_schema<curriculum_section>& s);
void describe(options_schema<task_section>& s);
void describe(enum_schema<loops::schedule_rule>& s);
void describe(options_schema<schedule_section>& s);

}  // namespace troupe
