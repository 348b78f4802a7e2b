// Environments of golden runs: agents that act in turn, and agents that leave one after another.

#include "actors/worlds/plugin.hpp"
#include "tests/algorithms/multi_agent/off_policy/departing.hpp"
#include "tests/algorithms/multi_agent/off_policy/gathering.hpp"
#include "tests/algorithms/multi_agent/test_worlds.hpp"

using namespace troupe::testing;

TROUPE_PLUGIN(troupe::plugin_environment<turns>("Turns-v0", {.deterministic = true}),
              troupe::plugin_environment<departing>("Departing-v0", {.deterministic = true}),
              troupe::plugin_environment<gathering<true>>("GatheringLeaving-v0",
                                                          {.deterministic = true}))
