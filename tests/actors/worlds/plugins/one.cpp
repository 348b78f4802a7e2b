#include "tests/actors/worlds/plugins/counter.hpp"

TROUPE_PLUGIN(troupe::plugin_environment<counter>("Counter-v0", {.deterministic = true}))
