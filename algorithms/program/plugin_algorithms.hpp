#pragma once
// The algorithms of plug-ins (algorithms/run/plugin_algorithm.hpp).

#include <string>

#include "algorithms/run/named_algorithm.hpp"

namespace troupe {

/// Returns the algorithm of that name in a plug-in. Loads the plug-in, so call it only for a name
/// that the user has chosen, or that of a run that the user trusts. Throws plugin_error, and
/// std::invalid_argument that names the plug-in for default values that are refused.
named_algorithm plugin_algorithm_named(const std::string& name);

}  // namespace troupe
