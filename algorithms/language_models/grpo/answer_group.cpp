#include "algorithms/language_models/grpo/answer_group.hpp"

#include <algorithm>

namespace troupe {

double answer_group::length() const {
  double tokens = 0;
  for (const auto& answer : answers) tokens += static_cast<double>(answer.log_probs.size());
  return answers.empty() ? 0 : tokens / static_cast<double>(answers.size());
}

bool answer_group::has_zero_variance() const {
  return std::ranges::all_of(
      answers, [&](const sampled_answer& a) { return a.reward == answers.front().reward; });
}

}  // namespace troupe
