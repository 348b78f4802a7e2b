#pragma once

#include "runtime/system/system.hpp"
#include "tests/runtime/simulation/dice.hpp"
#include "tests/runtime/simulation/ledger.hpp"

namespace troupe::simulation {

/// A loop: change the number of replicas and wait until all serve, train, put version v where
/// replicas catch up, push it to all at control priority. Beside it callers ask which version
/// answers, and kill replicas.
///
/// Invariant: to a call that is made once the push of version v has ended, no version below v - 1
/// answers. Who was in the table at that push has taken v. Who came into it later was started after
/// all had served at once, before v was put but after v - 1 was, and has caught up with that.
task<> push_versions(system& sys, dice random, ledger& book);

}  // namespace troupe::simulation
