#pragma once
// The evaluations of a run in bounded memory, for the recorder.

#include <cstddef>
#include <vector>

#include "actors/recorder/learning_curve.hpp"

namespace troupe {

/// Adds an evaluation to `all`, which are ordered by step. If they are more than `most` then, one
/// is dropped: the one whose neighbours are closest together, so that those that are left are
/// spread over all steps. The first, the best and the last one always stay. REQUIRES: `most` is at
/// least 3, and the steps don't decrease.
void add_evaluation(std::vector<curve_evaluation>& all, const curve_evaluation& evaluation,
                    std::size_t most = 1000);

}  // namespace troupe
