#include "tests/algorithms/plugins/scaled_rule.hpp"

TROUPE_PLUGIN(troupe::plugin_on_policy<scaled_rule<2>, scaled_options>("scaled",
                                                                       "scaled advantages"))
