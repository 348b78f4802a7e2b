#pragma once
// The rows of a dataset file, as supervised fine-tuning and GRPO both read them. A row is a JSON
// object, which is a line of JSON Lines or a row of Parquet:
//
//   {"prompt": "What is 2 + 3?", "answer": "5"}
//   {"prompt": [{"role": "user", "content": "What is 2 + 3?"}],
//    "completion": [{"role": "assistant", "content": "5"}]}
//   {"messages": [{"role": "user", "content": "What is 2 + 3?"},
//                 {"role": "assistant", "content": "5"}], "tools": [...]}
//   {"text": "A document."}
//
// GRPO reads the prompt and the right answer of the first two (data_problems.hpp), and supervised
// fine-tuning all of them (read_row).

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "actors/llm/tokenizer/chat_template.hpp"
#include "actors/python/python_options.hpp"

namespace troupe::llm {

/// The fields of the rows.
struct data_fields {
  /// The field of the prompt: a text, or a list of messages with "role" and "content". Or a
  /// template with the names of fields in braces, such as "{context}\n\n{question}"; {{ and }} are
  /// braces.
  std::string prompt = "prompt";
  /// The field of the right answer, a text or a number, or a list of messages. Rows may lack it
  /// unless it is needed. A row without the field "answer" may have "completion" in its place.
  std::string answer = "answer";
  bool needs_answer = true;
  /// The field of the level of a curriculum, a number or a text. Empty means that there is none.
  std::string level = {};
  /// The levels that are texts, from the easiest. Numbers need no list: the smallest is the
  /// easiest.
  std::vector<std::string> levels = {};
  /// The field of the documents, for supervised fine-tuning. Empty means the field "text" of rows
  /// that have neither messages nor a prompt.
  std::string text = {};
  /// The Python process that reads Parquet.
  python_options python = {};
};

/// Thrown for a dataset with rows that can't be used. The message has one fault in each line, each
/// with the file, the line and the field, and the number of further ones.
class data_error : public std::invalid_argument {
 public:
  explicit data_error(const std::vector<std::string>& faults);
  const std::vector<std::string>& faults() const { return faults_; }

 private:
  std::vector<std::string> faults_;
};

/// Calls `take` with each row of a file, in order: its object, and its text, in which keys have
/// their order. Rows of white space only are skipped. A file that ends in .parquet is read by
/// pyarrow in a Python process. Throws data_error with all rows that are refused, also those for
/// which `take` throws a std::exception; data_error for a file of another kind; jsonl_error if the
/// file can't be read or has no rows; and python_error if Python or pyarrow is missing.
void for_each_row(
    const std::filesystem::path& path, const python_options& python,
    const std::function<void(const nlohmann::json& row, std::string_view text)>& take);

/// A row as rows are read: the object, and its text. An empty text means that of the object.
struct row_view {
  const nlohmann::json& object;
  std::string_view text = {};
};

/// What a row asks.
struct asked_prompt {
  /// The conversation that the answer goes on with. A prompt that is a text is a user's message.
  std::vector<chat_message> messages;
  bool is_text = true;  ///< true if the row has a text and no messages
  std::string tools = {};
};

/// The prompt of a row. Throws std::invalid_argument that names the field.
asked_prompt prompt_of_row(const row_view& row, const data_fields& fields);

/// The right answer of a row, "" if it has none that is a text, a number or one message of the
/// assistant. Throws std::invalid_argument if it is needed and missing, empty or of another kind.
std::string answer_of_row(const row_view& row, const data_fields& fields);

/// The value of a row's field. Throws std::invalid_argument that names the field and those of the
/// row, if the row lacks it.
const nlohmann::json& field_of(const nlohmann::json& row, const std::string& name);

/// A text, or a number or a boolean as a text. Throws std::invalid_argument that names the field.
std::string text_of(const nlohmann::json& value, const std::string& name);

/// A row for supervised fine-tuning: a conversation whose answers are learned, or a document.
struct data_row {
  std::vector<chat_message> messages = {};  ///< the conversation with its answers
  /// The number of messages before the answer that is asked for: the completion, or the last
  /// message of a conversation that is learned.
  std::size_t asked = 0;
  std::vector<std::size_t> learned = {};  ///< the indices of the messages that are learned
  bool is_text = false;  ///< true if the row has texts as prompt and answer, and no messages
  std::string tools = {};
  std::string text = {};     ///< a document, all of which is learned; then there are no messages
  std::string own_key = {};  ///< the key by a prompt beside the messages; empty means theirs

  /// The same text for the rows that ask the same, and for their problems (prompt_key).
  std::string key() const;
};

/// Reads a row for supervised fine-tuning: {"messages": [...]}, each of whose messages by the
/// assistant is learned, a prompt with an answer, or {"text": ...}. A message of the assistant with
/// "weight": 0 or "train": false is not learned. Throws std::invalid_argument that names the field.
data_row read_row(const row_view& row, const data_fields& fields);

/// Throws std::invalid_argument if the chat template leaves out the tools, or what the assistant
/// calls: a model would learn from a part of the row. Throws like encode_chat.
void require_written(const tokenizer& tokens, chat_style style,
                     const std::vector<chat_message>& messages, const chat_options& options);

/// What tells prompts apart: all messages of a conversation, and the tools.
std::string prompt_key(std::span<const chat_message> messages, const std::string& tools);

/// The number of prompts that are held out where nobody says how many: a tenth, at least 2 and at
/// most 200. None of fewer than 4 are.
std::int64_t usual_held_out(std::int64_t prompts);

/// The rows that ask the same, for each different prompt in the file's order. `keys` has the key of
/// each row.
std::vector<std::vector<std::size_t>> rows_by_prompt(std::span<const std::string> keys);

/// The indices of `held_out` of so many different prompts, in the order in which the seed draws
/// them. Fewer held-out prompts of the same file are the first ones of this list.
std::vector<std::size_t> draw_held_out(std::size_t prompts, std::int64_t held_out,
                                       std::uint64_t seed);

}  // namespace troupe::llm
