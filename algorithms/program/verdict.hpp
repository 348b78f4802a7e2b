#pragma once
// What `train` and `eval` say of an evaluation.

#include <cstdint>
#include <optional>
#include <string>

#include "actors/recorder/run_labels.hpp"

namespace troupe::command {

struct evaluation_score {
  double mean = 0, std = 0;  ///< Of the returns.
  std::int64_t episodes = 0;
  std::optional<double> threshold = {};  ///< The mean return of a solved environment.

  bool is_solved() const { return threshold && mean >= *threshold; }
};

/// Returns a text such as "483.1 +/- 20.5 over 100 episodes, solved".
std::string verdict_of(const evaluation_score& score, const run_labels& labels);

}  // namespace troupe::command
