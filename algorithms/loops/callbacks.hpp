#pragma once
// Callbacks to be put together, after Stable-Baselines3's. Each is a function from progress to a
// coroutine that says go_on or stop; a user's own is one more.
//
//   loops::hooks<rollout> hooks{
//       .train = ...,
//       .called = loops::in_turn({
//           loops::every_steps(10'000, loops::evaluate_with({.measure = mean_return,
//                                                            .best = keep_model,
//                                                            .stop =
//                                                            {loops::score_reached(475)}})),
//           loops::every_steps(50'000, loops::save_with(write_checkpoint)),
//           loops::stop_when([](const loops::progress& now) { return now.seconds > 3600; }),
//           my_own,
//       })};
//
// | Stable-Baselines3                 | here                                       |
// |-----------------------------------|--------------------------------------------|
// | CallbackList                      | in_turn                                    |
// | EveryNTimesteps                   | every_steps, every_updates                 |
// | CheckpointCallback                | save_with                                  |
// | EvalCallback                      | evaluate_with (evaluations.hpp)            |
// | StopTrainingOnRewardThreshold     | score_reached (evaluations.hpp)            |
// | StopTrainingOnNoModelImprovement  | no_improvement (evaluations.hpp)           |
// | StopTrainingOnMaxEpisodes         | stop_when                                  |
// | BaseCallback                      | any function `task<verdict>(progress)`     |
// | BaseCallback's logger, model      | run_callbacks::on_update (run_control.hpp) |

#include <cstdint>
#include <functional>
#include <vector>

#include "actors/metrics/checkpoint_metrics.hpp"
#include "algorithms/loops/callback.hpp"

namespace troupe::loops {

/// Asks all of them, one after the other, also where one said stop: none misses an update. Stops if
/// one said so. Throws std::invalid_argument if one is null, as all functions here.
callback in_turn(std::vector<callback> each);

/// Asks `then` each time the loop has passed another multiple of `steps` > 0: once an update at
/// most, however many it passed. It counts nothing, so it is right in a resumed run too.
callback every_steps(std::int64_t steps, callback then);
/// Asks `then` after every `updates`-th update.
callback every_updates(std::int64_t updates, callback then);

/// Saves. A `save` that throws is logged and counted in troupe_checkpoints_total as a write_error,
/// and training goes on: a full disk does not end it.
callback save_with(std::function<task<>(progress)> save, checkpoint_metrics counted = {});

/// Stops as soon as `enough` holds.
callback stop_when(std::function<bool(const progress&)> enough);

}  // namespace troupe::loops
