#pragma once
// A random workload in virtual time under injected faults: services of every kind of endpoint, one
// of which calls the other, sessions, fanouts, deadlines, hedged calls and callers that give up,
// while replicas are added and removed. Beside them a loop that pushes versions (versions.hpp),
// guests in exclusive sessions (rooms.hpp), and callers that hold one thing while they wait for
// another (holdings.hpp).

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/service/options/fault_plan.hpp"
#include "tests/runtime/simulation/ledger.hpp"

namespace troupe::simulation {

struct report {
  std::optional<breach> broken;
  std::map<std::string, std::uint64_t> ends;  ///< Calls by how they ended.
  std::string faults;                         ///< What the plan came out as.
};

/// Plays the workload of one seed; the same seed plays the same one. The log should be off.
report play(std::uint64_t seed, const fault_plan& faults);

}  // namespace troupe::simulation
