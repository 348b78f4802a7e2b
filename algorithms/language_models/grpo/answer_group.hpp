#pragma once
// The experience of GRPO: a group of answers to one prompt, or of episodes of one deal. A group is
// never split.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "actors/llm/tasks/problem.hpp"
#include "actors/llm/tokenizer/token_range.hpp"
#include "actors/replay/item_id.hpp"

namespace troupe {

/// One reply of the model in an episode.
struct answer_turn {
  std::string shown;        ///< the text that the model was shown before it
  std::string said;         ///< the reply
  double reward = 0.0;      ///< what the world paid for it
  bool refused = false;     ///< true if it was no action
  bool shared = false;      ///< true if the group shares it (world.shared_turns); not trained on
  std::int64_t tokens = 0;  ///< the number of its tokens
  /// The oldest and the newest version of the weights that sampled its tokens.
  std::int64_t first_version = 0, last_version = 0;
};

/// Tokens that were written in one context, after the prompt; see sampled_answer.
struct answer_segment {
  std::vector<llm::token_id> tokens;
  std::vector<llm::token_range> read;
  std::vector<float> log_probs;
};

/// One answer, which follows the prompt. Training uses all tokens that the model sampled, and no
/// others.
struct sampled_answer {
  std::vector<llm::token_id> tokens;  ///< all tokens, with the one that ended the answer, if any
  /// The ranges of tokens that the model did not sample but read, in order: the texts of a game and
  /// the chat format around them.
  std::vector<llm::token_range> read = {};
  std::vector<float> log_probs;  ///< one for each sampled token, by the weights that sampled it
  std::string text;
  bool truncated = false;  ///< true if a limit of tokens or turns ended the answer
  double reward = 0.0;
  /// The first part of the reward: 1 for a right answer or a game that was won. With rewards in
  /// Python alone it is the whole reward.
  double right = 0.0;
  /// The value of each of the task's reward functions, without its weight; NaN where one does not
  /// apply. Empty for episodes in worlds.
  std::vector<double> values = {};
  /// The replies of an episode in a world, in order. Empty for answers to problems.
  std::vector<answer_turn> turns = {};
  /// The parts of an episode before `tokens`, if the model was no longer shown its oldest turns
  /// (world.history, world.context), or was shown them without the thoughts that it wrote
  /// (model.earlier_thoughts). Each follows the prompt by itself and begins with the turns
  /// that the model still saw, as read tokens. Training uses the sampled tokens of all parts.
  std::vector<answer_segment> earlier = {};

  /// The number of sampled tokens of all parts.
  std::int64_t sampled_tokens() const;
};

/// A prompt with its group of answers.
struct answer_group {
  item_id id;
  std::int64_t version = 0;  ///< the oldest version of the weights that sampled any of its tokens
  std::uint64_t task = 0;    ///< the index of the task among those of the run
  std::uint64_t drawn = 0;   ///< the number of its prompt, counted from 0 in the order of drawing
  llm::problem asked;
  std::vector<llm::token_id> prompt;
  std::vector<sampled_answer> answers;
  /// The number of answers that can't be trained on, by reason; see generate_answers and
  /// play_games. It includes the answers of groups that were discarded before this one.
  std::map<std::string, std::int64_t> dropped;
  /// The number of groups without variance in the reward that were discarded for this one.
  std::int64_t zero_variance_before = 0;

  /// The mean number of sampled tokens in an answer.
  double length() const;
  /// True if all answers have the same reward from the task, so that there is nothing to learn from
  /// the differences between them.
  bool has_zero_variance() const;
};

}  // namespace troupe
