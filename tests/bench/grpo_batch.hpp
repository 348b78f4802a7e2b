#pragma once

#include <cstddef>

/// The batch of GRPO that is measured.
namespace troupe::grpo_batch {

inline constexpr std::size_t groups = 8, answers = 8, answer_tokens = 8, prompt_tokens = 70;

}  // namespace troupe::grpo_batch
