#pragma once
// The model that learns, its tokenizer and its prompt format, and the warm start.

#include <ATen/core/Tensor.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "actors/llm/training/token_groups.hpp"
#include "actors/text/text_environment.hpp"
#include "algorithms/language_models/grpo/config.hpp"
#include "algorithms/language_models/grpo/grpo_start.hpp"
#include "algorithms/language_models/model/language_model.hpp"
#include "algorithms/language_models/sft/sft_example.hpp"
#include "runtime/coroutine/task.hpp"

namespace troupe {

/// A model with the format of its prompts.
struct prompt_format : language_model {
  std::string system_prompt = {};
  std::vector<llm::problem> shots = {};  ///< the solved problems in a prompt, before the one asked

  /// The messages of a problem, for models that are asked in words.
  std::vector<llm::chat_message> opening(const llm::problem& asked) const;
  std::vector<llm::token_id> prompt_of(const llm::problem& asked) const;
  std::vector<llm::token_id> prompt_of(const std::vector<llm::chat_message>& said) const;
  /// True if the chat template writes earlier turns anew (conversation_format::rewrites), so that
  /// prompt_of gives the tokens before each answer of a conversation.
  bool rewrites() const { return !is_letters && conversations().rewrites(); }
  /// The tokens between two answers: the text `said`, up to the beginning of the next answer.
  /// `ended` is whether the last answer has its end token; if not, it is added here.
  std::vector<llm::token_id> next_turn(const wording& said, bool ended) const;
};

/// The beginning of an episode in a world as a problem.
llm::problem opening_of(const text_step& first);

/// Reads the model of config.model without its weights. With an empty path and tokens its tokens
/// are letters; a completed configuration names them.
/// For a chat model the first config.task.shots training problems become its shots. Throws
/// llm_file_error, and config_error for more shots than training problems.
prompt_format prompt_format_of(const grpo_config& config,
                               std::span<const llm::problem> training = {});

/// Draws an example of a warm start: a prompt and the answer to be learned.
using warm_start_sampler = std::function<llm::token_group(action_random& random)>;
/// Draws right answers to these problems, each different answer with the same probability. Some
/// answers are rare among random problems, and rewards can't teach answers that are never sampled.
warm_start_sampler answer_problems(const prompt_format& format, std::vector<llm::problem> problems);
/// Draws from made-up conversations with a world (text_environment_spec::practise), which teach
/// the form of a reply and not which are good.
warm_start_sampler practise_replies(
    const prompt_format& format,
    std::function<std::vector<dialogue_turn>(action_random& random)> practise);

/// The examples of the file warm_start.data, as the model reads them, without those that ask a
/// held-out problem. Throws llm::data_error with the rows that can't be learned from, and
/// config_error if no example is left.
std::vector<sft_example> warm_start_examples(const grpo_config& config, const prompt_format& format,
                                             std::span<const llm::problem> held_out = {});
/// Draws these examples, each with the same probability.
warm_start_sampler draw_examples(std::vector<sft_example> examples);

/// The weights that training begins with: the file's weights, or random ones from the seed, after
/// the warm start. They depend only on the configuration, which must be completed, and on the file
/// warm_start.data. Configuration
/// and format must outlive the task. `stop_asked` is called before each batch of the warm start,
/// and the actor handles other messages between batches. Throws llm_file_error,
/// non_finite_training, and call_error of kind cancelled after a stop.
task<grpo_start> starting_weights(const grpo_config& config, const prompt_format& format,
                                  warm_start_sampler sampler,
                                  std::function<bool()> stop_asked = nullptr);

}  // namespace troupe
