#pragma once
// Several tasks for one policy: an episode function that asks a schedule which task is next, and
// plays that task's roles with the episode function that there is. Every loop takes it.
//
//   loops::multi_task<rollout_roles, rollout> together{
//       .tasks = {left, right, middle},            // the same policies, environments of their own
//       .schedule = co_await sys.serve<loops::task_schedule>({.name = "schedule"}, options),
//       .replay = replay,
//       .generate = generate_rollout,
//       .returns = returns_of};
//   co_await loops::synchronous(together, loops::generate_next_task<rollout_roles, rollout>, ...);
//   const auto each = co_await schedule.route<&loops::task_schedule::measured>();

#include <utility>
#include <vector>

#include "algorithms/loops/callback.hpp"
#include "algorithms/loops/task_schedule.hpp"
#include "runtime/service/service.hpp"

namespace troupe::loops {

/// What generate_next_task needs. Roles are those of one task alone; which task it is, a network
/// that serves all must be able to see in the observation.
template <class Roles, class Experience>
struct multi_task {
  /// In the order of the schedule's. Several episodes of one task may be under way at once: where
  /// an episode needs environments for itself, there is a replica for each.
  std::vector<Roles> tasks;
  service<task_schedule> schedule;
  decltype(Roles::replay) replay;  ///< Of all tasks together.
  task<Experience> (*generate)(Roles) = nullptr;
  /// Undiscounted returns of the episodes that ended in an item.
  std::vector<double> (*returns)(const Experience&) = nullptr;
};

/// The episode function of several tasks.
template <class Roles, class Experience>
task<Experience> generate_next_task(multi_task<Roles, Experience> with) {
  const auto next = co_await with.schedule.template route<&task_schedule::next>();
  Experience made = co_await with.generate(with.tasks.at(next));
  for (const double episode_return : with.returns(made)) {
    co_await with.schedule.template route<&task_schedule::ended>(next, episode_return);
  }
  co_return made;
}

namespace detail {

inline task<verdict> ask_if_learned(service<task_schedule> schedule) {
  const bool learned = co_await schedule.route<&task_schedule::learned>();
  co_return learned ? verdict::stop : verdict::go_on;
}

}  // namespace detail

/// A callback: the loop stops once every task's mean return has reached its target. These are the
/// returns of training, by weights of several versions; evaluate_with judges the newest.
inline callback stop_when_learned(service<task_schedule> schedule) {
  return [schedule](progress) { return detail::ask_if_learned(schedule); };
}

}  // namespace troupe::loops
