#include "actors/llm/tokenizer/conversation_format.hpp"

#include <algorithm>
#include <stdexcept>

#include "runtime/base/utf8.hpp"

namespace troupe::llm {
namespace {

using messages = std::vector<chat_message>;

constexpr std::string_view paragraph = "\n\n";

void append(std::vector<token_id>& to, const std::vector<token_id>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

void check_plain(const messages& all, const chat_options& options) {
  if (all.empty()) throw std::invalid_argument("chat: expected a message or more, got none");
  if (!options.tools.empty())
    throw std::invalid_argument(
        "chat: a model without a chat template reads plain text, which has no tools");
  for (const auto& message : all) {
    if (message.fields.empty()) continue;
    throw std::invalid_argument(
        "chat: a model without a chat template reads plain text: expected messages with a role and "
        "a content, got also " +
        detail::printable(message.fields, 200));
  }
}

}  // namespace

bool conversation_format::rewrites() const {
  return style && !keep_thoughts && rewrites_turns(*style, chat);
}

std::vector<token_id> conversation_format::prompt(const tokenizer& tokens,
                                                  const messages& all) const {
  const auto is_answer = [](const chat_message& message) { return message.role == "assistant"; };
  std::vector<token_id> ids;
  if (!style) {
    check_plain(all, chat);
    std::string text;
    const auto read = [&] {
      if (!text.empty()) append(ids, tokens.encode(text, {.add_special = ids.empty()}));
      text.clear();
    };
    for (const auto& message : all) {
      if (is_answer(message)) {
        read();
        append(ids, answer(tokens, message.content));
      } else {
        if (&message != &all.front()) text += paragraph;
        text += message.content;
      }
    }
    read();
    return ids;
  }
  auto options = chat;
  options.generation_prompt = true;
  const auto first = std::ranges::find_if(all, is_answer);
  if (!keep_thoughts || first == all.end()) return encode_chat(tokens, *style, all, options);
  // Turn by turn, as a conversation grows when its tokens are kept.
  ids = encode_chat(tokens, *style, {all.begin(), first}, options);
  for (auto each = first; each != all.end(); ++each) {
    const auto following = std::next(each);
    if (!is_answer(*each) || following == all.end() || is_answer(*following))
      throw std::invalid_argument(
          "chat: earlier thoughts can be kept only in conversations in which each answer is "
          "followed by one message");
    append(ids, answer(tokens, each->content));
    append(ids, next(tokens, *following));
    each = following;
  }
  return ids;
}

std::vector<token_id> conversation_format::next(const tokenizer& tokens,
                                                const chat_message& message) const {
  if (style) {
    auto options = chat;
    options.generation_prompt = true;
    return encode_next_turn(tokens, *style, message, options);
  }
  check_plain({message}, chat);
  return tokens.encode(std::string(paragraph) + message.content);
}

std::vector<token_id> conversation_format::answer(const tokenizer& tokens,
                                                  const std::string& text) const {
  auto ids = tokens.encode(text);
  ids.push_back(end);
  return ids;
}

std::vector<token_id> conversation_format::answer(const tokenizer& tokens, const messages& before,
                                                  const chat_message& message) const {
  if (!style) {
    check_plain({message}, chat);
    return answer(tokens, message.content);
  }
  if (keep_thoughts && message.fields.empty()) return answer(tokens, message.content);
  return encode_answer(tokens, *style, before, message, chat);
}

}  // namespace troupe::llm
