#pragma once
// The options of a run that say what its environments practise: levels, or tasks.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/loops/curriculum_levels.hpp"
#include "algorithms/loops/task_schedule.hpp"
#include "runtime/config/config.hpp"

namespace troupe {

struct curriculum_section {
  double promote_at = 0.8;          ///< success rate at which the next level begins
  int window = 100;                 ///< episodes at a level that the rate is of
  std::int64_t min_episodes = 20;   ///< at a level, before it is left
  std::optional<double> demote_at;  ///< rate at which the level before begins again; none: never
  bool stop_when_mastered = false;  ///< training ends once the last level is

  loops::curriculum_options options(std::size_t levels) const;
};

struct task_section {
  std::string id;     ///< of an environment
  double floor = 0;   ///< return of somebody who can do nothing
  double target = 1;  ///< return of somebody who can do it
  double weight = 1;  ///< its share of the turns, where the rule is proportional
};

struct schedule_section {
  loops::schedule_rule rule = loops::schedule_rule::round_robin;
  int window = 100;               ///< episodes of a task that its mean return is of
  std::int64_t longest_wait = 0;  ///< turns of others after which a task has its own; 0: by default
  bool stop_when_learned = false;  ///< training ends once all tasks have reached their targets

  loops::schedule_options options(const std::vector<task_section>& tasks) const;
  bool operator==(const schedule_section&) const = default;
};

void describe(options_schema<curriculum_section>& s);
void describe(options_schema<task_section>& s);
void describe(enum_schema<loops::schedule_rule>& s);
void describe(options_schema<schedule_section>& s);

}  // namespace troupe
