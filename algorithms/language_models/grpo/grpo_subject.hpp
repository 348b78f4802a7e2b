#pragma once
// The model that learns, and how it is spoken to.

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "actors/llm/model/model_config.hpp"
#include "actors/llm/tokenizer/chat_template.hpp"
#include "actors/llm/tokenizer/tokenizer.hpp"
#include "actors/llm/training/token_groups.hpp"
#include "actors/openenv/text/text_world.hpp"
#include "algorithms/language_models/grpo/config.hpp"
#include "algorithms/language_models/grpo/grpo_start.hpp"
#include "runtime/coroutine/task.hpp"

namespace troupe {

struct grpo_subject {
  llm::model_config config;
  llm::tokenizer tokens;
  std::optional<llm::chat_style>
      style;  ///< none: the letters model, which reads a problem's letters
  std::string system_prompt;
  // For the folders of its models:
  llm::tokenizer_parts parts;
  std::string chat_template;        ///< empty: none
  std::vector<llm::problem> shots;  ///< solved in the conversation before the one that is asked

  std::vector<llm::token_id> prompt_of(const llm::problem& asked) const;
  /// What ends an answer.
  std::vector<llm::token_id> stop_ids() const;
  /// That text as an answer, with the token that ends it.
  std::vector<llm::token_id> answer_of(const std::string& text) const;
  /// What goes on from an answer: what is said then, and where the next answer begins. `ended`: the
  /// answer's last token is one that ends it; else that stands here, too.
  std::vector<llm::token_id> next_turn(const openenv::wording& said, bool ended) const;
  /// A folder that transformers, `troupe chat` and this subject's own path can read: network, these
  /// weights [P], tokenizer, template. `score`: of the evaluation that it is kept for, if any.
  /// Throws std::system_error.
  void write_model(const std::filesystem::path& folder, const at::Tensor& parameters,
                   std::optional<double> score = std::nullopt) const;
  /// What its checkpoints are of.
  std::string describe() const;
};

/// The score that write_model was given for the model in a folder, if any. Throws llm_file_error.
std::optional<double> score_of(const std::filesystem::path& folder);

/// Where a game begins, as something that is asked.
llm::problem opening_of(const std::string& rules, const openenv::wording& shown);

/// Reads it, without its weights; the letters model where config.model.path is empty. Of a chat
/// model config.task.shots of the problems are its shots. Throws llm_file_error, and config_error
/// for more shots than there are.
grpo_subject subject_of(const grpo_config& config, std::span<const llm::problem> training = {});

/// What a warm start learns from: a prompt, and what is to be written then.
using warm_start_lesson = std::function<llm::token_group(action_random& random)>;
/// Right answers to these, each answer as often as any other: reward can't bring up what is never
/// written, and of random problems some answers are rare.
warm_start_lesson answer_problems(const grpo_subject& subject, std::vector<llm::problem> problems);
/// Legal moves in made-up games: how they are said, and not which are good.
warm_start_lesson practise_moves(const grpo_subject& subject, openenv::text_view view);

/// What training begins with: the file's weights, or those drawn by the seed, after the warm start.
/// By the configuration, completed, alone. Configuration and subject outlive it. `stop_asked`:
/// asked before each batch of the warm start, between which the actor does what else has come to
/// it. Throws llm_file_error, non_finite_training, and call_error of kind cancelled for a stop.
task<grpo_start> starting_weights(const grpo_config& config, const grpo_subject& subject,
                                  warm_start_lesson lesson,
                                  std::function<bool()> stop_asked = nullptr);

}  // namespace troupe
