#pragma once
// Services on nodes with slots, in virtual time: starts that hang, fail or take long, calls that
// keep a thread for long or hang, nodes that die, are cut off and come back while their slots are
// full, threads that can't be had, a controller that is lost, and replicas that are added and
// removed meanwhile. The threads of the controller may be few.

#include "tests/runtime/simulation/workload.hpp"

namespace troupe::simulation {

/// Plays the workload of one seed. It draws what is lost, and how often, so that it knows how many
/// restarts there may be, unless `faults` loses more.
report play_fleet(std::uint64_t seed, const fault_plan& faults);

}  // namespace troupe::simulation
