// The target in a plug-in of docs/guides/algorithm.md.

// readme: mixed
#include "algorithms/off_policy/td3/plugin_target.hpp"

struct mixed_options {
  double smallest_weight = 0.75;
};

void describe(troupe::options_schema<mixed_options>& s) {
  s.field("smallest_weight", &mixed_options::smallest_weight)
      .at_least(0)
      .at_most(1)
      .help("The share of the smallest critic in a target. The largest has the rest.");
}

troupe::variable mixed(troupe::variable q, const troupe::transition_batch&,
                       const mixed_options& options) {
  const auto share = static_cast<float>(options.smallest_weight);
  return share * row_min(q) + (1.0f - share) * row_max(q);
}

TROUPE_PLUGIN(troupe::plugin_td3("mixed", "TD3 with a mean of critics as target", mixed,
                                 {"trainer.n_critics=3"}))
// readme: end
