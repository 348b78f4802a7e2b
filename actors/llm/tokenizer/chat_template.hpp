#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "actors/llm/tokenizer/tokenizer.hpp"

namespace troupe::llm {

/// The form in which a family was taught to read conversations.
enum class chat_style { smollm2, qwen2_5, qwen3, llama3, llama3_2 };

std::string_view name_of(chat_style style);  ///< "qwen2.5"

/// The style of a chat template, a program in Jinja that comes with a model. It isn't run: the
/// published ones are known by their SHA-256, and another is refused with llm_file_error, as a
/// conversation in the wrong form gives wrong answers and no error. `place` begins the message.
chat_style chat_style_of(std::string_view jinja, const std::string& place);

/// The template of a model's folder (chat_template.jinja or tokenizer_config.json) or GGUF file.
/// Throws llm_file_error where there is none.
std::string read_chat_template(const std::filesystem::path& path);
/// Its style. Throws as both of the above.
chat_style read_chat_style(const std::filesystem::path& path);

struct chat_message {
  std::string role;  ///< system, user or assistant
  std::string content;
};

struct chat_options {
  bool generation_prompt = true;  ///< end where the assistant's answer begins
  bool thinking = true;           ///< Qwen3: let it think; else its thoughts are written as empty
  std::string date = "26 Jul 2024";  ///< Llama 3.2 is told a date; the same one gives the same ids
};

/// A part of a conversation's text: a special token, or what lies between two.
struct chat_piece {
  std::string text;
  bool is_token = false;
};

/// The conversation as the style writes it. Throws std::invalid_argument for no message, and for
/// another role.
std::vector<chat_piece> render_chat(chat_style style, const std::vector<chat_message>& messages,
                                    const chat_options& options = {});

/// Its ids. What a message says is never read as a special token. A conversation goes on with the
/// ids that were sampled: their text, rendered and encoded again, may have others. Throws
/// std::invalid_argument also where the tokenizer lacks a special token of the style.
std::vector<token_id> encode_chat(const tokenizer& tokens, chat_style style,
                                  const std::vector<chat_message>& messages,
                                  const chat_options& options = {});

/// What goes on from an answer that ended its turn: the next message, and where the next answer
/// begins. So a conversation keeps the ids that were sampled. Throws as encode_chat does.
std::vector<token_id> encode_next_turn(const tokenizer& tokens, chat_style style,
                                       const chat_message& next, const chat_options& options = {});

/// The text of the token that ends an answer.
std::string_view end_of_turn(chat_style style);

}  // namespace troupe::llm
