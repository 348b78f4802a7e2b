#pragma once

#include "algorithms/loops/loops.hpp"
#include "algorithms/run/training_cast.hpp"

namespace troupe {

struct training_loop_options {
  std::int64_t updates = 1;
  std::size_t batch = 1;     ///< Of sync mode: episodes of an update.
  std::size_t rollouts = 1;  ///< Of async mode: episodes under way.
  bool drain = false;        ///< These end before the loop does.
};

/// The loop of the cast's mode; what it has done is added to the cast's progress.
template <class Roles, class Experience>
task<> run_loop(training_cast& cast, Roles roles, task<Experience> (*generate)(Roles),
                loops::hooks<Experience> hooks, training_loop_options options) {
  loops::report report;
  if (cast.settings.mode == training_mode::sync) {
    report = co_await loops::synchronous(roles, generate, std::move(hooks),
                                         {.batch = options.batch, .updates = options.updates});
  } else {
    report = co_await loops::asynchronous(
        roles, generate, std::move(hooks),
        {.rollouts = options.rollouts, .updates = options.updates, .drain = options.drain});
  }
  add_report(cast.done, report);
}

}  // namespace troupe
