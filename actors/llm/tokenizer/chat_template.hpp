#pragma once
// Conversations in a model's own format, as texts and as token ids.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actors/llm/tokenizer/tokenizer.hpp"

namespace troupe::llm {

/// The format of conversations that a family of models was trained on. `bytes` is that of
/// Troupe's own bytes model (byte_tokenizer.hpp).
enum class chat_style { smollm2, qwen2_5, qwen3, llama3, llama3_2, bytes };

std::string_view name_of(chat_style style);  ///< a name such as "qwen2.5"

/// The style of a model's chat template, which is a program in Jinja. The template isn't executed.
/// Published templates are recognised by their SHA-256. Others are refused with llm_file_error,
/// since a conversation in the wrong format gives wrong answers without an error. `place` begins
/// the message.
chat_style chat_style_of(std::string_view jinja, const std::string& place);

/// The template of a model's folder (chat_template.jinja or tokenizer_config.json) or GGUF file.
/// None if there is none, as with base models. Throws llm_file_error if it is no text.
std::optional<std::string> find_chat_template(const std::filesystem::path& path);
/// The same. Throws llm_file_error if there is none.
std::string read_chat_template(const std::filesystem::path& path);
/// The style of the template of a model's folder or GGUF file. Throws like read_chat_template and
/// chat_style_of.
chat_style read_chat_style(const std::filesystem::path& path);

/// The template with a statement before it that sets the default of enable_thinking, so that
/// transformers renders conversations as the model was trained on them. A caller of
/// apply_chat_template may still choose otherwise.
std::string with_thinking(std::string_view jinja, bool thinking);
/// The template without the statement of with_thinking, and the default that it sets, if any.
std::pair<std::string_view, std::optional<bool>> without_thinking(std::string_view jinja);

struct chat_message {
  std::string role;  ///< system, user or assistant; in the style bytes also tool
  std::string content;
  /// The other fields of the message, a JSON object, such as {"tool_calls": [...]}. Empty means
  /// none.
  std::string fields = {};
};

struct chat_options {
  bool generation_prompt = true;     ///< true if the text ends where the assistant's answer begins
  bool thinking = true;              ///< Qwen3: true lets it think; false writes empty thoughts
  std::string date = "26 Jul 2024";  ///< Llama 3.2: the date in its prompt
  /// The tools that the assistant may call, a JSON list in the form of apply_chat_template. Empty
  /// means none.
  std::string tools = {};
};

/// A part of a conversation's text: a special token, or the text between two special tokens.
struct chat_piece {
  std::string text;
  bool is_token = false;
};

/// The text of a conversation in the style. Throws std::invalid_argument if there is no message and
/// for an unknown role.
std::vector<chat_piece> render_chat(chat_style style, const std::vector<chat_message>& messages,
                                    const chat_options& options = {});

/// The token ids of a conversation. The content of a message is never read as a special token. To
/// continue a conversation, keep the sampled ids and add encode_next_turn, since encoding their
/// text again may give other ids. Throws like render_chat, and std::invalid_argument if the
/// tokenizer lacks a special token of the style.
std::vector<token_id> encode_chat(const tokenizer& tokens, chat_style style,
                                  const std::vector<chat_message>& messages,
                                  const chat_options& options = {});

/// The token ids that follow an answer which has ended its turn: the next message, up to the
/// beginning of the next answer. Throws like encode_chat.
std::vector<token_id> encode_next_turn(const tokenizer& tokens, chat_style style,
                                       const chat_message& next, const chat_options& options = {});

/// The token ids that the assistant writes as its turn after the messages `before`, with the token
/// that ends the turn. They are what the loss of supervised fine-tuning covers; encode_chat of
/// `before` with a generation prompt gives the ids before them. Throws like encode_chat.
std::vector<token_id> encode_answer(const tokenizer& tokens, chat_style style,
                                    const std::vector<chat_message>& before,
                                    const chat_message& answer, const chat_options& options = {});

/// The text of the token that ends an answer.
std::string_view end_of_turn(chat_style style);

}  // namespace troupe::llm
