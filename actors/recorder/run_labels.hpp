#pragma once
// The words that outputs use for the quantities of a run.

#include <string>

namespace troupe {

/// The names of a run's quantities in texts for people. The defaults are those of learning on an
/// environment.
struct run_labels {
  std::string steps = "steps";             ///< The unit of total_steps.
  std::string axis = "environment steps";  ///< The label of the curve's step axis.
  std::string episode = "episode";         ///< The name of one point of the curve.
  std::string score = "return";            ///< The name of the value of one point.
  /// The name of the units that an evaluation averages over.
  std::string judged = "episodes";
  /// A prefix for an evaluation's mean, such as "reward ".
  std::string verdict = {};
};

}  // namespace troupe
