#pragma once
// Several tasks for one policy, in loops of your own: an episode function that asks a schedule for
// the next task and calls the given episode function with that task's roles. Every loop accepts it.
//
//   loops::multi_task<rollout_roles, rollout> together{
//       .tasks = {left, right, middle},            // the same policies, different environments
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

/// The roles of generate_next_task. Roles is the type of one task's roles. A network that serves
/// all tasks must be able to see in the observation which task it is.
template <class Roles, class Experience>
struct multi_task {
  /// The roles of each task, in the order of the schedule. Several episodes of one task may be
  /// under way at once; if an episode needs environments for itself, the task needs as many
  /// replicas.
  std::vector<Roles> tasks;
  service<task_schedule> schedule;
  decltype(Roles::replay) replay;  ///< The replay of all tasks together.
  task<Experience> (*generate)(Roles) = nullptr;
  /// Returns the undiscounted returns of the episodes that ended in an item.
  std::vector<double> (*returns)(const Experience&) = nullptr;
};

/// The episode function of several tasks: plays the schedule's next task and reports its returns.
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

/// Returns a callback that stops the loop once every task's mean return has reached its target.
/// These are returns of training, with weights of several versions; evaluate_with measures the
/// newest ones.
inline callback stop_when_learned(service<task_schedule> schedule) {
  return [schedule](progress) { return detail::ask_if_learned(schedule); };
}

}  // namespace troupe::loops
