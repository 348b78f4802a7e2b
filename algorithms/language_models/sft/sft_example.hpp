#pragma once
// The examples of supervised fine-tuning, and their reading from JSON Lines.

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "actors/llm/model/model_config.hpp"
#include "actors/llm/tokenizer/conversation_format.hpp"

namespace troupe {

/// An example, from which the model learns to write `answer`, which includes its end token, after
/// `prompt`. The loss covers the answer's tokens only. Neither is padded.
struct sft_example {
  std::vector<llm::token_id> prompt;
  std::vector<llm::token_id> answer;

  std::int64_t tokens() const { return std::int64_t(prompt.size() + answer.size()); }
  bool operator==(const sft_example&) const = default;
};

/// The conversion of texts to token ids.
struct sft_encoding {
  const llm::tokenizer* tokens = nullptr;
  std::optional<llm::chat_style> style;  ///< none means plain text (conversation_format.hpp)
  llm::token_id end = 0;                 ///< an answer's end token without a style
  llm::chat_options chat = {};
  std::int64_t max_tokens = 0;  ///< the most tokens in an example
  /// The system message of prompts and of conversations that begin with none. Empty means the chat
  /// template's own.
  std::string system_prompt = {};
  std::string prompt_key = "prompt", answer_key = "answer";
  bool keep_thoughts = false;  ///< the thoughts of earlier answers (conversation_format.hpp)
};

/// Thrown for an example of more than sft_encoding::max_tokens.
class example_too_long : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// The examples in one line of data, which is {"prompt": TEXT, "answer": TEXT}, or {"messages":
/// [{"role": R, "content": TEXT}, ...]}. Each assistant message becomes an example, whose prompt is
/// all messages before it. Other keys are ignored. A "prompt" is a user message. Prompt and answer
/// are encoded separately, as in generation.
/// Throws std::invalid_argument for a line without an answer, and example_too_long.
std::vector<sft_example> examples_of(const nlohmann::json& line, const sft_encoding& encoding);

/// The number of refused lines of a file that one error names.
inline constexpr std::size_t refused_lines_max = 20;

/// The lines of a file of examples.
struct sft_lines {
  std::vector<std::vector<sft_example>> examples;  ///< of each line that is used
  std::int64_t skipped = 0;                        ///< the number of lines that are too long
};

/// Reads a JSON Lines file. With `skip_long` a line with an example that is too long is skipped as
/// a whole. Throws jsonl_error that names the file, and up to refused_lines_max refused lines with
/// what is wrong with each.
sft_lines read_sft_lines(const std::filesystem::path& path, const sft_encoding& encoding,
                         bool skip_long = false);

/// The examples in all lines of a JSON Lines file. Throws like read_sft_lines.
std::vector<sft_example> read_sft_examples(const std::filesystem::path& path,
                                           const sft_encoding& encoding);

}  // namespace troupe
