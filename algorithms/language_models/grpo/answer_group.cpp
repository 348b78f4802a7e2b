#include "algorithms/language_models/grpo/answer_group.hpp"

namespace troupe {

double answer_group::length() const {
  double tokens = 0;
  for (const auto& answer : answers) tokens += static_cast<double>(answer.log_probs.size());
  return answers.empty() ? 0 : tokens / static_cast<double>(answers.size());
}

}  // namespace troupe
