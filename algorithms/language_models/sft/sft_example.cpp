#include "algorithms/language_models/sft/sft_example.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

namespace troupe {
namespace {

using llm::chat_message, llm::data_row;

sft_example checked(sft_example made, const sft_encoding& encoding) {
  if (made.prompt.empty())
    throw std::invalid_argument("prompt: expected one token or more, got none");
  if (made.tokens() > encoding.max_tokens)
    throw example_too_long(fmt::format("expected at most {} tokens of prompt and answer, got {}",
                                       encoding.max_tokens, made.tokens()));
  return made;
}

sft_example chat_example(std::vector<chat_message> before, const chat_message& answer,
                         const std::string& tools, const sft_encoding& encoding) {
  if (!encoding.system_prompt.empty() && before.front().role != "system")
    before.insert(before.begin(), {"system", encoding.system_prompt});
  llm::conversation_format format{.style = encoding.style,
                                  .end = encoding.end,
                                  .chat = encoding.chat,
                                  .keep_thoughts = encoding.keep_thoughts};
  format.chat.tools = tools;
  return checked(
      {format.prompt(*encoding.tokens, before), format.answer(*encoding.tokens, before, answer)},
      encoding);
}

/// A document: its first token is the prompt of all others.
sft_example document_example(const std::string& text, const sft_encoding& encoding) {
  auto ids = encoding.tokens->encode(text, {.add_special = true});
  if (ids.empty()) throw std::invalid_argument("text: expected one token or more, got none");
  ids.push_back(encoding.end);
  return checked({{ids.front()}, {ids.begin() + 1, ids.end()}}, encoding);
}

std::vector<sft_example> encoded(const data_row& row, const sft_encoding& encoding) {
  if (row.messages.empty()) return {document_example(row.text, encoding)};
  std::vector<sft_example> made;
  for (const auto i : row.learned)
    made.push_back(chat_example({row.messages.begin(), row.messages.begin() + std::ptrdiff_t(i)},
                                row.messages[i], row.tools, encoding));
  if (!encoding.style) return made;
  auto options = encoding.chat;
  options.generation_prompt = false;
  options.tools = row.tools;
  const auto end = row.messages.begin() + std::ptrdiff_t(row.learned.back() + 1);
  llm::require_written(*encoding.tokens, *encoding.style, {row.messages.begin(), end}, options);
  return made;
}

/// The index of the example for the answer that is asked for.
std::size_t asked_example(const data_row& row) {
  const auto at = std::ranges::find_if(row.learned, [&](auto i) { return i >= row.asked; });
  return std::size_t(at - row.learned.begin());
}

}  // namespace

std::vector<sft_example> examples_of(const llm::row_view& row, const sft_encoding& encoding) {
  return encoded(llm::read_row(row, encoding.fields), encoding);
}

sft_lines read_sft_lines(const std::filesystem::path& path, const sft_encoding& encoding,
                         bool skip_long) {
  sft_lines read;
  const auto take = [&](const nlohmann::json& object, std::string_view text) {
    const auto row = llm::read_row({object, text}, encoding.fields);
    sft_line line{.key = row.key(),
                  .examples = {},
                  .asked = asked_example(row),
                  .is_document = row.messages.empty()};
    try {
      line.examples = encoded(row, encoding);
    } catch (const example_too_long&) {
      if (!skip_long) throw;
      ++read.skipped;
    }
    read.lines.push_back(std::move(line));
  };
  llm::for_each_row(path, encoding.fields.python, take);
  return read;
}

std::vector<sft_example> read_sft_examples(const std::filesystem::path& path,
                                           const sft_encoding& encoding) {
  std::vector<sft_example> all;
  for (auto& line : read_sft_lines(path, encoding).lines)
    std::ranges::move(line.examples, std::back_inserter(all));
  return all;
}

}  // namespace troupe
