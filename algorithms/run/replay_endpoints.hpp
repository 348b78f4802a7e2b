#pragma once

#include <vector>

#include "actors/replay/replay_queue.hpp"
#include "runtime/service/options/endpoint.hpp"

namespace troupe {

/// Every endpoint of a replay queue that a run calls: each may be called again where the replica
/// is lost, as what it holds is on a shelf.
template <class Experience>
std::vector<const endpoint_info*> replay_endpoints() {
  using queue = replay_queue<Experience>;
  return {endpoint<&queue::admit>,   endpoint<&queue::insert>,  endpoint<&queue::sample>,
          endpoint<&queue::take>,    endpoint<&queue::missing>, endpoint<&queue::sample_size>,
          endpoint<&queue::trained>, endpoint<&queue::close>,   endpoint<&queue::counts>,
          endpoint<&queue::save>,    endpoint<&queue::restore>};
}

}  // namespace troupe
