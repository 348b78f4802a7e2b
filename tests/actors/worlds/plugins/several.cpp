#include "tests/actors/worlds/plugins/counter.hpp"

namespace {

struct never : counter {
  never() { throw std::runtime_error("it can't be made"); }
};

}  // namespace

TROUPE_PLUGIN(troupe::plugin_environment<counter>("Counter-v0", {.deterministic = true}),
              troupe::plugin_environment_with_options<counter>("Counter-v1"),
              troupe::plugin_vector_environment<troupe::vector_env<counter>>("Counters-v0"),
              troupe::plugin_environment<never>("Never-v0"))
