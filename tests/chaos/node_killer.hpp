#pragma once
// Kills nodes at random, starts others in their place, and measures how soon that is made good.

#include <vector>

#include "tests/chaos/kill_record.hpp"
#include "tests/chaos/node_processes.hpp"
#include "tests/chaos/roles.hpp"

namespace troupe::chaos {

/// How long after a kill its successor is started.
inline constexpr std::chrono::seconds replaced_after{2};

/// Kills one node, drawn at random among those that are here, each time `every` has passed, for
/// `length`; then waits until all is made good, at most for `length` more. A loss is known when the
/// system has no such node any more, and it is back when every service has all its replicas.
task<std::vector<kill_record>> kill_nodes_at_random(system& sys, const roles& who,
                                                    node_processes& nodes, killer_options options);

}  // namespace troupe::chaos
