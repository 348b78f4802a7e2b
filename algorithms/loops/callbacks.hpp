#pragma once
// Callbacks for loops, modelled on Stable-Baselines3's, which can be combined with each other and
// with a user's own. Each is a function from progress to a coroutine that returns go_on or stop.
//
//   loops::hooks<rollout> hooks{
//       .train = ...,
//       .on_update_end = loops::in_turn({
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

/// Calls all callbacks one after the other, even after one has returned stop. Returns stop if one
/// of them did. Throws std::invalid_argument if one is null; all functions here do.
callback in_turn(std::vector<callback> each);

/// Calls `then` after each update in which the loop has passed a multiple of `steps`, once however
/// many multiples it passed. `steps` must be above 0. It has no counter, so it also works in a
/// resumed run.
callback every_steps(std::int64_t steps, callback then);
/// Calls `then` after every `updates`-th update. `updates` must be above 0.
callback every_updates(std::int64_t updates, callback then);

/// Calls `save`, and never stops the loop. If `save` throws, for example on a full disk, the error
/// is logged and counted in troupe_checkpoints_total as a write_error.
callback save_with(std::function<task<>(progress)> save, checkpoint_metrics counted = {});

/// Stops the loop as soon as `enough` returns true.
callback stop_when(std::function<bool(const progress&)> enough);

}  // namespace troupe::loops
