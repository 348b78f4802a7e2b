#pragma once

#include <string>

namespace troupe {

/// What a run counts and how good it gets, in words for people. The defaults are those of learning
/// on an environment.
struct run_words {
  std::string steps = "steps";             ///< what total_steps counts
  std::string axis = "environment steps";  ///< the same, of the curve's axis
  std::string episode = "episode";         ///< a point of the curve
  std::string score = "return";            ///< of one
  int decimals = 1;                        ///< of scores
  std::string judged = "episodes";         ///< what an evaluation is over
  std::string verdict;                     ///< what its mean is, to stand before that: "reward "
};

}  // namespace troupe
