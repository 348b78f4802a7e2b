#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "actors/llm/model/model_config.hpp"
#include "actors/llm/tokenizer/chat_template.hpp"

namespace troupe {

/// What is learned: to write `answer`, its end included, after `prompt`. The loss is on the
/// answer's tokens alone; neither is padded.
struct sft_example {
  std::vector<llm::token_id> prompt;
  std::vector<llm::token_id> answer;

  std::int64_t tokens() const { return std::int64_t(prompt.size() + answer.size()); }
  bool operator==(const sft_example&) const = default;
};

/// How texts become ids.
struct sft_encoding {
  const llm::tokenizer* tokens = nullptr;
  std::optional<llm::chat_style> style;  ///< none: texts stand for themselves
  llm::token_id end = 0;                 ///< of an answer; with a style its end of turn is taken
  llm::chat_options chat = {};
  std::int64_t max_tokens = 0;  ///< the longest example
};

/// A line of data: {"prompt": TEXT, "answer": TEXT}, or {"messages": [{"role": R, "content": TEXT},
/// ...]} for models with a chat style, of which every answer of the assistant's becomes an example,
/// after all that was said before it; other keys are not read. With a style a prompt is what the
/// user says. Prompt and answer are encoded one by one, as they are when a model writes. Throws
/// std::invalid_argument for what has no answer, and for an example that is too long.
std::vector<sft_example> examples_of(const nlohmann::json& line, const sft_encoding& encoding);

/// All lines of a JSON Lines file. Throws jsonl_error with the file and the line.
std::vector<sft_example> read_sft_examples(const std::filesystem::path& path,
                                           const sft_encoding& encoding);

}  // namespace troupe
