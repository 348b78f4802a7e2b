#pragma once
// The board of a run on the status page.

#include <string>

#include "actors/recorder/learning_curve.hpp"
#include "actors/recorder/progress_bar.hpp"

namespace troupe {

/// Returns the board of a run for the status page (runtime/metrics/status_page.html) as a JSON
/// object in one line. It has the progress of the run and its learning curve with at most some
/// hundreds of points.
std::string run_board(const learning_curve& curve, const progress_state& progress);

}  // namespace troupe
