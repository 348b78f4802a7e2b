#pragma once
// What GRPO learns from: the answers to one prompt, which are never apart.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "actors/llm/tasks/problem.hpp"
#include "actors/llm/tokenizer/bpe.hpp"
#include "actors/replay/item_id.hpp"

namespace troupe {

/// One answer. Only tokens that the model sampled are here: all of them are trained on.
struct sampled_answer {
  std::vector<llm::token_id> tokens;  ///< with the token that ended it, if one did
  std::vector<float> log_probs;       ///< of each, as it was drawn
  std::string text;
  bool truncated = false;  ///< the limit of tokens ended it
  double reward = 0.0;
  double right = 0.0;  ///< the first part of its reward: 1 for a right answer
};

struct answer_group {
  item_id id;
  std::int64_t version = 0;  ///< the oldest weights that sampled any of its tokens
  llm::problem asked;
  std::vector<llm::token_id> prompt;
  std::vector<sampled_answer> answers;
  /// Answers that came but can't be trained on, by reason; see generate_answers. Those of groups
  /// that were asked in vain before this one, too.
  std::map<std::string, std::int64_t> dropped;
  std::int64_t flat_before = 0;  ///< groups without variance that it is in the place of
};

}  // namespace troupe
