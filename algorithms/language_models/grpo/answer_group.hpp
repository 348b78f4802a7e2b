#pragma once
// What GRPO learns from: the answers to one prompt, or games of one deal, which are never apart.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "actors/llm/tasks/problem.hpp"
#include "actors/llm/tokenizer/token_range.hpp"
#include "actors/replay/item_id.hpp"

namespace troupe {

/// One answer: what follows the prompt. All tokens that the model sampled are trained on, and no
/// other.
struct sampled_answer {
  std::vector<llm::token_id> tokens;  ///< with the token that ended it, if one did
  /// Those of them that it was given in between, in order: what a game said, and what stands around
  /// that.
  std::vector<llm::token_range> read = {};
  std::vector<float> log_probs;  ///< of each that was sampled, as it was drawn
  std::string text;
  bool truncated = false;  ///< a limit of tokens or turns ended it
  double reward = 0.0;
  double right =
      0.0;  ///< the first part of its reward: 1 for a right answer, or a game that is won
};

struct answer_group {
  item_id id;
  std::int64_t version = 0;  ///< the oldest weights that sampled any of its tokens
  llm::problem asked;
  std::vector<llm::token_id> prompt;
  std::vector<sampled_answer> answers;
  /// Answers that came but can't be trained on, by reason; see generate_answers and play_games.
  /// Those of groups that were asked in vain before this one, too.
  std::map<std::string, std::int64_t> dropped;
  std::int64_t flat_before = 0;  ///< groups without variance that it is in the place of

  /// Mean sampled tokens of an answer.
  double length() const;
};

}  // namespace troupe
