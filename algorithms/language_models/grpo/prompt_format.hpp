#pragma once
// The model that learns, its tokenizer and its prompt format, and the warm start.

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

/// The model without its weights, and the format of its prompts.
struct prompt_format {
  llm::model_config config;
  llm::tokenizer tokens;
  /// The chat format. None means the letters model, which reads a problem's letters.
  std::optional<llm::chat_style> style;
  std::string system_prompt;
  llm::tokenizer_parts parts;       ///< for write_model
  std::string chat_template;        ///< for write_model; empty if there is none
  std::vector<llm::problem> shots;  ///< the solved problems in a prompt, before the one asked

  std::vector<llm::token_id> prompt_of(const llm::problem& asked) const;
  /// The tokens that end an answer.
  std::vector<llm::token_id> stop_ids() const;
  /// The tokens of a text as an answer, with the token that ends it.
  std::vector<llm::token_id> answer_of(const std::string& text) const;
  /// The tokens between two answers: the text `said`, up to the beginning of the next answer.
  /// `ended` is whether the last answer has its end token; if not, it is added here.
  std::vector<llm::token_id> next_turn(const openenv::wording& said, bool ended) const;
  /// Writes a folder with the network, these weights [P], the tokenizer and the template, which
  /// transformers, `troupe chat` and the option model.path can read. `score` is the result of the
  /// evaluation for which the model is kept, if any. Throws std::system_error.
  void write_model(const std::filesystem::path& folder, const at::Tensor& parameters,
                   std::optional<double> score = std::nullopt) const;
  /// The shape of the network in words.
  std::string describe() const;
};

/// The score that write_model was given for the model in a folder, if any. Throws llm_file_error.
std::optional<double> score_of(const std::filesystem::path& folder);

/// The beginning of a game as a problem, whose question has the rules and the text shown.
llm::problem opening_of(const std::string& rules, const openenv::wording& shown);

/// Reads the model of config.model.path without its weights; an empty path means the letters model.
/// For a chat model the first config.task.shots training problems become its shots. Throws
/// llm_file_error, and config_error for more shots than training problems.
prompt_format prompt_format_of(const grpo_config& config,
                               std::span<const llm::problem> training = {});

/// Draws an example of a warm start: a prompt and the answer to be learned.
using warm_start_sampler = std::function<llm::token_group(action_random& random)>;
/// Draws right answers to these problems, each different answer with the same probability. Some
/// answers are rare among random problems, and rewards can't teach answers that are never sampled.
warm_start_sampler answer_problems(const prompt_format& format, std::vector<llm::problem> problems);
/// Draws legal moves in made-up games, which teach the form of a move and not which are good.
warm_start_sampler practise_moves(const prompt_format& format, openenv::text_view view);

/// The weights that training begins with: the file's weights, or random ones from the seed, after
/// the warm start. They depend only on the configuration, which must be completed. Configuration
/// and format must outlive the task. `stop_asked` is called before each batch of the warm start,
/// and the actor handles other messages between batches. Throws llm_file_error,
/// non_finite_training, and call_error of kind cancelled after a stop.
task<grpo_start> starting_weights(const grpo_config& config, const prompt_format& format,
                                  warm_start_sampler sampler,
                                  std::function<bool()> stop_asked = nullptr);

}  // namespace troupe
