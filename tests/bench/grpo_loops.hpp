#pragma once

#include <nlohmann/json_fwd.hpp>

namespace troupe {

/// GRPO of a small model that plays on a slow OpenEnv server, in the synchronous and in the
/// asynchronous loop: 40 updates of 8 groups of 4 games of 20 turns, 32 games at a time.
/// By then it answers two of the four symbols rightly: half of the return that there is. Where it
/// trains on, which symbols a run is stuck at is chance, in either loop.
///
///   grpo_async_over_sync                    episodes per second, the second over the first
///   grpo_async_over_sync_ceiling            what the times of the server and of an update allow it
///                                           to be at most: 2.98
///   grpo_start_return, grpo_sync_return,
///   grpo_async_return                       of 128 games on other deals, the likeliest moves; of
///                                           20
///   grpo_async_staleness_max
///   partial_over_whole                      episodes per second in the asynchronous loop, over
///   those
///                                           where new weights wait for the episodes under way
///   grpo_whole_return                       the return of the latter
void measure_grpo_loops(nlohmann::ordered_json& results);

}  // namespace troupe
