#pragma once
// The endpoints of a replay queue that may be called again, for the algorithms that serve one.

#include <vector>

#include "actors/replay/replay_queue.hpp"
#include "runtime/service/options/endpoint.hpp"

namespace troupe {

/// Every endpoint of a replay queue that a run calls. Each may be called again if the replica is
/// lost, because the items are in storage that outlives the replica.
template <class Experience>
std::vector<const endpoint_info*> replay_endpoints() {
  using queue = replay_queue<Experience>;
  return {endpoint<&queue::admit>,   endpoint<&queue::insert>,  endpoint<&queue::sample>,
          endpoint<&queue::take>,    endpoint<&queue::missing>, endpoint<&queue::sample_size>,
          endpoint<&queue::trained>, endpoint<&queue::close>,   endpoint<&queue::counts>,
          endpoint<&queue::save>,    endpoint<&queue::restore>};
}

}  // namespace troupe
