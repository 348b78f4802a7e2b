#pragma once
// Chooses among several tasks. Runs use it for env.tasks; loops of your own use it with
// multi_task.hpp.

#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/loops/recent_mean.hpp"

namespace troupe::loops {

/// The rule that chooses the next task.
enum class schedule_rule {
  round_robin,   ///< Tasks take turns in their order.
  proportional,  ///< Each task gets its weight's share of the turns, evenly spread.
  by_need,       ///< The task with the worst relative return is next.
};

struct scheduled_task {
  std::string name;   ///< A name that no other task has.
  double weight = 1;  ///< The weight of the task for `proportional`, above 0.
  double floor = 0;   ///< The return of a policy that has learned nothing: relative return 0.
  double target = 1;  ///< The return at which it is learned: relative return 1. Above `floor`.
};

struct schedule_options {
  std::vector<scheduled_task> tasks;
  schedule_rule rule = schedule_rule::round_robin;
  std::size_t window = 100;  ///< Mean returns are over the last so many episodes of a task.
  /// With `by_need`, a task gets a turn after so many turns of others in any case, so that no task
  /// is forgotten and a hopeless task does not take all turns. 0 means the number of tasks.
  std::int64_t longest_wait = 0;
};

/// The statistics of one task.
struct task_measure {
  std::string name;
  std::int64_t turns = 0;      ///< How often `next` has chosen the task.
  std::int64_t episodes = 0;   ///< The number of its episodes that have ended.
  double mean_return = 0;      ///< Over the last `window` episodes; 0 before the first.
  double relative_return = 0;  ///< (mean_return - floor) / (target - floor)
};

/// Chooses the next of several tasks to practise and keeps the mean return of each. It is
/// deterministic. The class has no actors of its own and can be served as a role: see
/// multi_task.hpp.
class task_schedule {
 public:
  /// Throws std::invalid_argument that names the task and the option if one is out of range.
  explicit task_schedule(schedule_options options);

  /// Chooses the next task and returns its index.
  std::size_t next();
  /// Counts an episode of `task` that has ended. Throws std::invalid_argument if there is no such
  /// task.
  void ended(std::size_t task, double episode_return);

  /// The statistics of each task, in the order of the tasks.
  std::vector<task_measure> measured() const;
  /// True if every task's mean return over a full window has reached its target.
  bool learned() const;

  std::string save() const;
  /// Restores a state that `save` returned. Throws state_error if it has other tasks.
  void restore(std::string bytes);

 private:
  struct record {
    recent_mean returns;
    std::int64_t turns = 0;
    std::int64_t episodes = 0;
    std::int64_t waited = 0;  ///< Turns of others since its last turn.
    double credit = 0;        ///< For `proportional`: turns due, times the sum of the weights.
  };

  std::size_t next_by_weight();
  std::size_t next_by_need() const;
  double relative_return(std::size_t task) const;

  schedule_options options_;
  std::vector<record> records_;
  std::int64_t turns_ = 0;
};

}  // namespace troupe::loops
