#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/loops/recent_mean.hpp"

namespace troupe::loops {

/// Whose turn it is.
enum class schedule_rule {
  round_robin,
  proportional,  ///< Each task gets its weight's share of the turns, evenly spread.
  by_need,       ///< The task with the worst relative return.
};

struct scheduled_task {
  std::string name;   ///< Unique.
  double weight = 1;  ///< > 0; for `proportional`.
  double floor = 0;   ///< Return of somebody who can do nothing: relative return 0.
  double target = 1;  ///< Return of somebody who can do it: relative return 1. Above `floor`.
};

struct schedule_options {
  std::vector<scheduled_task> tasks;
  schedule_rule rule = schedule_rule::round_robin;
  std::size_t window = 100;  ///< Returns are means over the last so many episodes of a task.
  /// Turns of others after which a task has its own in any case, by need too, so that what was
  /// learned is not forgotten and a hopeless task does not take all. 0: the number of tasks.
  std::int64_t longest_wait = 0;
};

/// What is known of one task.
struct task_measure {
  std::string name;
  std::int64_t turns = 0;
  std::int64_t episodes = 0;
  double mean_return = 0;      ///< Over the last `window` episodes; 0 before the first.
  double relative_return = 0;  ///< (mean_return - floor) / (target - floor)
};

/// Which of several tasks to practise next, and how each is going. Nothing is drawn by chance.
/// Plain logic, and as it is a role too: see multi_task.hpp.
class task_schedule {
 public:
  /// Throws std::invalid_argument naming the task and the option out of range.
  explicit task_schedule(schedule_options options);

  /// The index of the next task.
  std::size_t next();
  /// An episode of `task` ended. Throws std::invalid_argument if there is no such task.
  void ended(std::size_t task, double episode_return);

  /// One for each task, in their order.
  std::vector<task_measure> measured() const;
  /// Every task's mean return over a full window has reached its target.
  bool learned() const;

  std::string save() const;
  /// Goes on from what `save` gave. Throws state_error if it had other tasks.
  void restore(std::string bytes);

 private:
  struct record {
    recent_mean returns;
    std::int64_t turns = 0;
    std::int64_t episodes = 0;
    std::int64_t waited = 0;  ///< Turns of others since its last.
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
