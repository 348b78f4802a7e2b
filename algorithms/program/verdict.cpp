#include "algorithms/program/verdict.hpp"

#include <fmt/format.h>

#include "actors/recorder/score_text.hpp"

namespace troupe::command {

std::string verdict_of(const evaluation_score& score, const run_labels& labels) {
  std::string end;
  if (score.is_solved()) end = ", solved";
  if (score.threshold && !score.is_solved())
    end = fmt::format(", NOT solved: that takes {}", *score.threshold);
  return fmt::format("{}{} +/- {} over {} {}{}", labels.verdict, score_text(score.mean),
                     score_text(score.std), score.episodes, labels.judged, end);
}

}  // namespace troupe::command
