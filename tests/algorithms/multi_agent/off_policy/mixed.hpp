#pragma once
// The values that a mixer gives teams.

#include <vector>

#include "actors/gradients/kernel_graph.hpp"
#include "algorithms/multi_agent/off_policy/value_mixer.hpp"

namespace troupe::testing {

/// Q_tot [rows] of the observations of `rows` rows and the values q of the agents there.
inline std::vector<float> mixed(value_mixer& mixer, const std::vector<float>& parameters,
                                const std::vector<float>& obs, const std::vector<float>& q,
                                int rows) {
  kernel_graph g;
  const auto columns_of = [&](const std::vector<float>& x) {
    return g.constant(x, static_cast<int>(x.size()) / rows);
  };
  const auto total = g.values(mixer.mix(columns_of(obs), columns_of(q), {parameters}, 0));
  return {total.begin(), total.end()};
}

}  // namespace troupe::testing
