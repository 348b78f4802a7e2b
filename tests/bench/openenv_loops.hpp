#pragma once
// The loops half of the OpenEnv benchmark.

#include <nlohmann/json.hpp>

namespace troupe::openenv {

/// Steps a second of loops::asynchronous over those of loops::synchronous, on a server whose
/// episodes are of very different length, an update waiting for a part of a second as for a device:
///
///   async_over_sync                what nobody's waiting for the longest of 32 episodes gains, and
///                                  training meanwhile. It shows that the loop's own costs are
///                                  small, and no speed of an algorithm.
///   async_over_sync_ceiling        what it could be at most: 3.34, by the times of the server and
///                                  of the update alone
///   async_over_sync_barrier_part   2.34, the factor of that which comes from not waiting for the
///                                  longest episode; the rest, 1.43, is of training meanwhile
///   sync_return, async_return      what both have learned; 20 is the best
///   async_staleness_max            in versions
///   sync_training_fraction         the share of the synchronous time in which the trainer trained
///   sync_update_s                  seconds of an update
///
/// Then twice more, with these names behind a prefix:
///
///   stale_       a return that can suffer: few updates, after which it is far from the best, with
///                four times as many rollouts under way and weights of up to 8 versions before
///   computing_   updates that wait for nothing and compute: ten epochs of layers of 256
void measure_loops(nlohmann::json& results);

}  // namespace troupe::openenv
