#pragma once

#include "runtime/system/system.hpp"
#include "tests/runtime/simulation/dice.hpp"
#include "tests/runtime/simulation/ledger.hpp"

namespace troupe::simulation {

/// Callers that hold one thing while they wait for another: two exclusive sessions of few replicas,
/// and calls that come back to the services from which they came. Each of them ends.
task<> hold_and_wait(system& sys, dice random, ledger& book);

}  // namespace troupe::simulation
