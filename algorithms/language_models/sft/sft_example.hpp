#pragma once
// The examples of supervised fine-tuning, which the rows of a dataset are converted to.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "actors/llm/model/model_config.hpp"
#include "actors/llm/tasks/data_rows.hpp"
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
  llm::token_id end = 0;                 ///< the token that ends documents and answers
  llm::chat_options chat = {};
  std::int64_t max_tokens = 0;  ///< the most tokens in an example
  /// The system message of prompts and of conversations that begin with none. Empty means the chat
  /// template's own.
  std::string system_prompt = {};
  llm::data_fields fields = {};
  bool keep_thoughts = false;  ///< the thoughts of earlier answers (conversation_format.hpp)
};

/// Thrown for an example of more than sft_encoding::max_tokens.
class example_too_long : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// The examples in a row (llm::read_row). Each message of the assistant that is learned becomes an
/// example, whose prompt is all messages before it. With a style, a prompt that is a text is a
/// message of the user. Prompt and answer are encoded separately, as in generation. All tokens of a
/// document are learned but the first, after which the others come, and so is an end token. Throws
/// std::invalid_argument for a row that can't be learned from, and example_too_long.
std::vector<sft_example> examples_of(const llm::row_view& row, const sft_encoding& encoding);

/// A row of a file as examples.
struct sft_line {
  std::string key;                    ///< llm::data_row::key
  std::vector<sft_example> examples;  ///< empty if the row is skipped
  /// The index of the example whose prompt is the one that is asked for (llm::data_row::asked).
  std::size_t asked = 0;
  bool is_document = false;
};

/// The rows of a file of examples.
struct sft_lines {
  std::vector<sft_line> lines;  ///< all of the file's, in its order
  std::int64_t skipped = 0;     ///< the number of rows that are too long
};

/// Reads a file. With `skip_long` a row with an example that is too long is skipped as a whole.
/// Throws llm::data_error with all rows that are refused, and like llm::for_each_row.
sft_lines read_sft_lines(const std::filesystem::path& path, const sft_encoding& encoding,
                         bool skip_long = false);

/// The examples in all rows of a file. Throws like read_sft_lines.
std::vector<sft_example> read_sft_examples(const std::filesystem::path& path,
                                           const sft_encoding& encoding);

}  // namespace troupe
