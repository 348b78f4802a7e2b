#pragma once
// Services on nodes with slots, in virtual time: starts that hang, fail or take long, calls that
// keep a thread for long or hang, nodes that die, are cut off and come back while their slots are
// full, and replicas that are added and removed meanwhile.

#include "tests/runtime/simulation/workload.hpp"

namespace troupe::simulation {

/// Plays the workload of one seed. Of `faults` it has those that lose no replica: what is lost, and
/// how often, is its own to draw, so that it knows how many restarts there may be.
report play_fleet(std::uint64_t seed, const fault_plan& faults);

}  // namespace troupe::simulation
