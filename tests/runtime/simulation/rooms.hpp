#pragma once

#include "runtime/system/system.hpp"
#include "tests/runtime/simulation/dice.hpp"
#include "tests/runtime/simulation/ledger.hpp"

namespace troupe::simulation {

/// Guests of few rooms, each of whom wants one to himself: exclusive sessions never overlap,
/// whatever dies, is removed or gives up.
task<> share_rooms(system& sys, dice random, ledger& book);

}  // namespace troupe::simulation
