#include "algorithms/language_models/sft/sft_example.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "actors/data/jsonl.hpp"

namespace troupe {
namespace {

using llm::chat_message;

std::string text_of(const nlohmann::json& object, const std::string& key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string())
    throw std::invalid_argument(fmt::format("{}: expected a text, got {}", key,
                                            found == object.end() ? "none" : found->type_name()));
  return found->get<std::string>();
}

std::vector<chat_message> messages_of(const nlohmann::json& list) {
  if (!list.is_array())
    throw std::invalid_argument(fmt::format("messages: expected a list, got {}", list.type_name()));
  std::vector<chat_message> messages;
  for (const auto& one : list) {
    if (!one.is_object())
      throw std::invalid_argument(
          fmt::format("messages: expected objects, got {}", one.type_name()));
    messages.push_back({text_of(one, "role"), text_of(one, "content")});
  }
  return messages;
}

sft_example checked(sft_example made, const sft_encoding& encoding) {
  if (made.prompt.empty())
    throw std::invalid_argument("prompt: expected one token or more, got none");
  if (made.tokens() > encoding.max_tokens)
    throw example_too_long(fmt::format("expected at most {} tokens of prompt and answer, got {}",
                                       encoding.max_tokens, made.tokens()));
  return made;
}

llm::token_id end_of_answer(const sft_encoding& encoding) {
  if (!encoding.style) return encoding.end;
  const auto text = llm::end_of_turn(*encoding.tokens, *encoding.style);
  const auto id = encoding.tokens->find(text);
  if (!id)
    throw std::invalid_argument(fmt::format("the tokenizer lacks {}, which ends a turn", text));
  return *id;
}

sft_example chat_example(std::vector<chat_message> before, const std::string& answer,
                         const sft_encoding& encoding) {
  auto options = encoding.chat;
  options.generation_prompt = true;
  if (!encoding.system_prompt.empty() && before.front().role != "system")
    before.insert(before.begin(), {"system", encoding.system_prompt});
  sft_example made{llm::encode_chat(*encoding.tokens, *encoding.style, before, options),
                   encoding.tokens->encode(answer)};
  made.answer.push_back(end_of_answer(encoding));
  return checked(std::move(made), encoding);
}

std::vector<sft_example> of_conversation(const std::vector<chat_message>& messages,
                                         const sft_encoding& encoding) {
  if (!encoding.style)
    throw std::invalid_argument("messages: expected a model with a known chat template");
  std::vector<sft_example> made;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (messages[i].role != "assistant") continue;
    if (i == 0) throw std::invalid_argument("messages: expected something to answer, got none");
    made.push_back(chat_example({messages.begin(), messages.begin() + std::ptrdiff_t(i)},
                                messages[i].content, encoding));
  }
  if (made.empty())
    throw std::invalid_argument("messages: expected an answer of the assistant's, got none");
  return made;
}

}  // namespace

std::vector<sft_example> examples_of(const nlohmann::json& line, const sft_encoding& encoding) {
  if (const auto messages = line.find("messages"); messages != line.end())
    return of_conversation(messages_of(*messages), encoding);
  const auto prompt = text_of(line, encoding.prompt_key);
  const auto answer = text_of(line, encoding.answer_key);
  if (encoding.style) return {chat_example({{"user", prompt}}, answer, encoding)};
  sft_example made{encoding.tokens->encode(prompt, {.add_special = true}),
                   encoding.tokens->encode(answer)};
  made.answer.push_back(end_of_answer(encoding));
  return {checked(std::move(made), encoding)};
}

namespace {

/// The first messages, one a line, and the number of further ones.
std::string listed(const std::vector<std::string>& messages) {
  const auto shown = std::min(messages.size(), refused_lines_max);
  auto text = fmt::format(
      "{}", fmt::join(messages.begin(), messages.begin() + std::ptrdiff_t(shown), "\n"));
  if (shown < messages.size()) text += fmt::format("\nand {} more", messages.size() - shown);
  return text;
}

}  // namespace

sft_lines read_sft_lines(const std::filesystem::path& path, const sft_encoding& encoding,
                         bool skip_long) {
  sft_lines read;
  std::vector<std::string> refused;
  const auto take = [&](const nlohmann::json& line) {
    try {
      read.examples.push_back(examples_of(line, encoding));
    } catch (const example_too_long&) {
      if (!skip_long) throw;
      ++read.skipped;
    }
  };
  const auto refuse = [&](const jsonl_error& error) { refused.emplace_back(error.what()); };
  for_each_jsonl(path, take, {.on_bad_line = refuse});
  if (!refused.empty()) throw jsonl_error(listed(refused));
  return read;
}

std::vector<sft_example> read_sft_examples(const std::filesystem::path& path,
                                           const sft_encoding& encoding) {
  std::vector<sft_example> all;
  for (auto& line : read_sft_lines(path, encoding).examples)
    std::ranges::move(line, std::back_inserter(all));
  return all;
}

}  // namespace troupe
