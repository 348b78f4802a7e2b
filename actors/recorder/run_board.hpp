#pragma once

#include <string>

#include "actors/recorder/learning_curve.hpp"
#include "actors/recorder/progress_bar.hpp"

namespace troupe {

/// A run as the status page draws it (runtime/metrics/status_page.html): how far it is, and its
/// learning curve with some hundreds of points at most. A JSON object in one line.
std::string run_board(const learning_curve& curve, const progress_state& progress);

}  // namespace troupe
