#pragma once
// A curriculum for environments that begin episodes by themselves, as hosted_environment's do: a
// callback grades the episodes that ended, and tells every replica the level of its next ones. Runs
// have it as an option (algorithms/run/practice.hpp); this is for loops of your own, with
// hosted_environment or another role:
//
//   struct classroom {
//     void set_level(std::size_t level);                         // for episodes from now on
//     std::vector<loops::graded_episode> take_graded();          // those that ended since the last
//   };
//   loops::curriculum_levels levels({.levels = 5});
//   hooks.called = loops::curriculum(levels, classrooms);        // stops when all are mastered

#include <exception>
#include <vector>

#include "algorithms/loops/callback.hpp"
#include "algorithms/loops/curriculum_levels.hpp"
#include "runtime/base/log.hpp"
#include "runtime/service/service.hpp"

namespace troupe::loops {

namespace detail {

/// The values of the replicas that answered. One that was lost has none, and is told the level
/// again after the next update; any other error is thrown.
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
  // Also where it is the same: a replica that was restarted does not know it.
  const std::size_t level = levels.level();
  auto told = co_await urgent.template fanout_settled<&Role::set_level>(level);
  use_answers(told, [](auto& answer) { answer.value(); });
  co_return verdict::go_on;
}

}  // namespace detail

/// Levels advance by the episodes that ended in the environments; the loop stops once the last is
/// mastered. `levels` outlives the loop. The messages are of control priority: they don't wait for
/// the steps queued at a replica. Who begins a loop tells the environments their first level.
template <class Role>
callback curriculum(curriculum_levels& levels, service<Role> environments) {
  return
      [&levels, environments](progress now) { return detail::advance(levels, environments, now); };
}

}  // namespace troupe::loops
