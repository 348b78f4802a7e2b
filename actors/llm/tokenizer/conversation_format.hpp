#pragma once
// How a model reads a conversation, and what it writes: by its chat template or, without one, as
// plain text.

#include <optional>
#include <string>
#include <vector>

#include "actors/llm/tokenizer/chat_template.hpp"
#include "actors/llm/tokenizer/tokenizer.hpp"

namespace troupe::llm {

/// The format of a model's conversations.
///
/// A base model has no chat template and reads plain text. The first message is the text itself. An
/// answer follows it directly and ends with the token `end`. Any other message begins a paragraph:
/// an empty line stands before it. Roles are not written.
struct conversation_format {
  std::optional<chat_style> style = {};  ///< none means plain text
  token_id end = 0;                      ///< the token that ends an answer
  chat_options chat = {};
  /// False leaves the thoughts of earlier turns to the chat template. Most templates drop them: the
  /// model reads what it thought in its last answer alone. True keeps the tokens of earlier turns
  /// as they were written.
  bool keep_thoughts = false;

  /// True if the beginning of a conversation may read otherwise once it goes on, because the chat
  /// template drops thoughts, or the empty thoughts of a generation prompt, from earlier turns.
  /// Then `prompt` gives the tokens before each answer. Otherwise `next` continues a conversation.
  bool rewrites() const;

  /// The tokens up to the beginning of the next answer. Throws std::invalid_argument like
  /// encode_chat, and for messages that plain text can't have: calls of tools, or none at all.
  std::vector<token_id> prompt(const tokenizer& tokens,
                               const std::vector<chat_message>& messages) const;

  /// The tokens between an answer that has ended and the next one. Throws like `prompt`.
  std::vector<token_id> next(const tokenizer& tokens, const chat_message& message) const;

  /// The tokens of an answer, with the one that ends it.
  std::vector<token_id> answer(const tokenizer& tokens, const std::string& text) const;

  /// The tokens that the assistant writes as its turn after the messages `before`, as the chat
  /// template has it (encode_answer). Throws like `prompt`.
  std::vector<token_id> answer(const tokenizer& tokens, const std::vector<chat_message>& before,
                               const chat_message& message) const;
};

}  // namespace troupe::llm
