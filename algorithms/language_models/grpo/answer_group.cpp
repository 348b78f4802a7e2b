#include "algorithms/language_models/grpo/answer_group.hpp"

#include <algorithm>

namespace troupe {

std::int64_t sampled_answer::sampled_tokens() const {
  auto tokens = std::ssize(log_probs);
  for (const auto& each : earlier) tokens += std::ssize(each.log_probs);
  return tokens;
}

double answer_group::length() const {
  double tokens = 0;
  for (const auto& answer : answers) tokens += static_cast<double>(answer.sampled_tokens());
  return answers.empty() ? 0 : tokens / static_cast<double>(answers.size());
}

bool answer_group::has_zero_variance() const {
  return std::ranges::all_of(
      answers, [&](const sampled_answer& a) { return a.reward == answers.front().reward; });
}

}  // namespace troupe
