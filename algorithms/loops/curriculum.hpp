#pragma once
// A curriculum for environments that begin episodes by themselves, such as those of
// hosted_environment. A callback grades the episodes that have ended and tells every replica the
// level of its next ones. Runs have a curriculum as an option (algorithms/run/task_selector.hpp);
// this file is for loops of your own, with hosted_environment or another role:
//
//   struct classroom {
//     void set_level(std::size_t level);                  // the level of episodes from now on
//     std::vector<loops::graded_episode> take_graded();   // episodes ended since the last call
//   };
//   loops::curriculum_levels levels({.levels = 5});
//   hooks.on_update_end = loops::curriculum(levels, classrooms);  // stops when all are mastered

#include <exception>
#include <vector>

#include "algorithms/loops/callback.hpp"
#include "algorithms/loops/curriculum_levels.hpp"
#include "runtime/base/log.hpp"
#include "runtime/service/service.hpp"

namespace troupe::loops {

namespace detail {

/// Calls `use` with each answer. A call_error of kind replica_lost is ignored, because a replica
/// that was restarted is told the level again after the next update; any other error is thrown.
template <class T, class Use>
void use_answers(std::vector<outcome<T>>& answers, Use use) {
  for (auto& answer : answers) {
    try {
      use(answer);
    } catch (const call_error& e) {
      if (e.kind() != error_kind::replica_lost) throw;
    }
  }
}

template <class Role>
task<verdict> advance(curriculum_levels& levels, service<Role> environments, progress now) {
  const auto before = levels.level();
  const auto urgent = environments.with({.priority = priority::control});
  auto graded = co_await urgent.template fanout_settled<&Role::take_graded>();
  use_answers(graded, [&](auto& answer) {
    for (const graded_episode& episode : answer.value()) levels.ended(episode);
  });
  if (levels.mastered()) co_return verdict::stop;
  if (levels.level() != before) {
    log::info("the curriculum's level changed",
              {{"level", levels.level()}, {"before", before}, {"updates", now.updates}});
  }
  // An unchanged level is sent, too, because a replica that was restarted does not know it.
  const std::size_t level = levels.level();
  auto told = co_await urgent.template fanout_settled<&Role::set_level>(level);
  use_answers(told, [](auto& answer) { answer.value(); });
  co_return verdict::go_on;
}

}  // namespace detail

/// Returns a callback that advances `levels` by the episodes that have ended in the environments.
/// It stops the loop once the last level is mastered. `levels` must outlive the loop. The messages
/// have control priority, so they don't wait for the steps queued at a replica. The caller tells
/// the environments their first level before the loop begins.
template <class Role>
callback curriculum(curriculum_levels& levels, service<Role> environments) {
  return
      [&levels, environments](progress now) { return detail::advance(levels, environments, now); };
}

}  // namespace troupe::loops
