#pragma once
// Warnings of policies that do not learn.

#include "algorithms/multi_agent/agents_section.hpp"
#include "algorithms/run/settings.hpp"

namespace troupe {

/// Returns an algorithm whose check also warns of a run in which no policy learns, and of a policy
/// that is both frozen and scripted.
algorithm warning_of_idle_policies(algorithm what, agents_section section);

}  // namespace troupe
