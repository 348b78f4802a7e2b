#pragma once
// Kills processes of replicas at random, and measures how soon that is noticed and made good.

#include <vector>

#include "tests/chaos/kill_record.hpp"
#include "tests/chaos/roles.hpp"

namespace troupe::chaos {

/// Kills one replica of the roles, drawn at random among those that serve, each time `every` has
/// passed, for `length`; then waits until each is back, at most for `length` more. A loss is known
/// when its service has no such replica any more, and it is back when its successor has answered a
/// call.
task<std::vector<kill_record>> kill_at_random(system& sys, const roles& who,
                                              killer_options options);

/// Kills every replica of the roles at once.
task<> kill_all(const roles& who);

}  // namespace troupe::chaos
