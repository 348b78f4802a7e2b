#pragma once
// Conversations in a model's own format, as texts and as token ids.

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actors/llm/jinja/text.hpp"
#include "actors/llm/tokenizer/tokenizer.hpp"

namespace troupe::llm {

/// The texts of tokens that a chat template may write by their names, such as bos_token.
using named_tokens = std::map<std::string, std::string, std::less<>>;

/// Chat templates by their names, such as "default".
using named_templates = std::map<std::string, std::string, std::less<>>;

/// The format of a model's conversations: its chat template, which is a program in Jinja
/// (actors/llm/jinja). Copies are cheap.
class chat_style {
 public:
  /// The format of Troupe's own bytes model (byte_tokenizer.hpp).
  static const chat_style bytes;

  /// Reads a template. `name` is what the model calls it. `others` are further templates of the
  /// model, of which "tool_use" writes conversations with tools. Throws llm_file_error for what
  /// isn't a template and for what the interpreter doesn't know; `place` begins the message.
  chat_style(std::string_view jinja, const std::string& place, named_tokens tokens = {},
             std::string name = "default", named_templates others = {});

  const std::string& name() const;    ///< "default", or what the model calls the template
  const std::string& source() const;  ///< the template
  /// The templates that a model of this style is written with: `source` is the default one, and
  /// also there by its name.
  const named_templates& templates() const;
  const named_tokens& tokens() const;
  bool operator==(const chat_style& other) const;

  struct program;
  const program& parsed() const { return *program_; }

 private:
  std::shared_ptr<const program> program_;
};

/// The style of a template alone. Throws like the constructor.
chat_style chat_style_of(std::string_view jinja, const std::string& place);

/// A template of a model's folder or GGUF file. A folder has it in chat_template.jinja, with others
/// in additional_chat_templates/NAME.jinja, or in tokenizer_config.json, as a text or as a list of
/// templates with names. An empty `name` means "default". Throws llm_file_error if there is none,
/// and for an unknown name, with those that there are.
std::string read_chat_template(const std::filesystem::path& path, const std::string& name = "");

/// The style of a model's folder or GGUF file, with the tokens that its template may name. As in
/// transformers, conversations with tools are written by the template "tool_use" if there is one
/// and no name was given. With a name the style has no other templates. None for a base model,
/// which has no template. Throws llm_file_error for an unknown name, and like the constructor of
/// chat_style.
std::optional<chat_style> find_chat_style(const std::filesystem::path& path,
                                          const std::string& name = "");
/// The same. Throws llm_file_error if there is none.
chat_style read_chat_style(const std::filesystem::path& path, const std::string& name = "");

/// The texts of the special tokens that a model's folder or GGUF file names, such as bos_token.
/// Throws llm_file_error.
named_tokens read_named_tokens(const std::filesystem::path& path);

/// The template with a statement before it that sets the default of enable_thinking, so that
/// transformers renders conversations as the model was trained on them. A caller of
/// apply_chat_template may still choose otherwise.
std::string with_thinking(std::string_view jinja, bool thinking);
/// The template without the statement of with_thinking, and the default that it sets, if any.
std::pair<std::string_view, std::optional<bool>> without_thinking(std::string_view jinja);

struct chat_message {
  std::string role;  ///< system, user, assistant, tool, or another one that the template names
  std::string content;
  /// The other fields of the message, a JSON object, such as {"tool_calls": [...]}. A field
  /// "content" there replaces the content, by a list of parts or by none (null). Empty means no
  /// other fields.
  std::string fields = {};
};

struct chat_options {
  bool generation_prompt = true;  ///< true if the text ends where the assistant's answer begins
  bool thinking = true;           ///< the template's enable_thinking
  /// What strftime_now of a template goes by, so that a run's prompts don't depend on the day.
  std::string date = "26 Jul 2024";
  /// The tools that the assistant may call, a JSON list in the form of apply_chat_template. Empty
  /// means none.
  std::string tools = {};
};

/// The text of a conversation, as transformers' apply_chat_template writes it. Bytes of messages
/// and tools have the mark jinja::from_data, and those that the template says are the assistant's
/// have jinja::generated. Throws std::invalid_argument if there is no message, for an unknown role,
/// and with the template's own message if it refuses the conversation.
jinja::text render_chat(const chat_style& style, const std::vector<chat_message>& messages,
                        const chat_options& options = {});

/// The token ids of a conversation. What comes from a message or a tool is never read as a special
/// token, wherever the template puts it. To continue a conversation, keep the sampled ids and add
/// encode_next_turn, since encoding their text again may give other ids. Throws like render_chat.
std::vector<token_id> encode_chat(const tokenizer& tokens, const chat_style& style,
                                  const std::vector<chat_message>& messages,
                                  const chat_options& options = {});

/// The token ids that follow an answer which has ended its turn: the next message, up to the
/// beginning of the next answer. Throws like encode_chat, and std::invalid_argument for a template
/// that doesn't write answers as they are.
std::vector<token_id> encode_next_turn(const tokenizer& tokens, const chat_style& style,
                                       const chat_message& next, const chat_options& options = {});

/// The token ids that the assistant writes as its turn after the messages `before`, with the token
/// that ends the turn: what follows the generation prompt in the text with the answer. They are
/// what the loss of supervised fine-tuning covers; encode_chat of `before` with a generation prompt
/// gives the ids before them. If the generation prompt opens thoughts and the template leaves them
/// out of an answer, the answer must begin with them. Throws like encode_chat, and
/// std::invalid_argument if the answer doesn't follow the generation prompt and if no token ends
/// it.
std::vector<token_id> encode_answer(const tokenizer& tokens, const chat_style& style,
                                    const std::vector<chat_message>& before,
                                    const chat_message& answer, const chat_options& options = {});

/// True if the template writes earlier turns anew when a conversation goes on: it drops thoughts,
/// or what its generation prompt opened, from earlier answers. False for a template that can't
/// write several turns.
bool rewrites_turns(const chat_style& style, const chat_options& options);

/// The text of the token that ends an answer: the first one after a short answer. Empty if the
/// template writes none. Throws like encode_chat.
std::string end_of_turn(const tokenizer& tokens, const chat_style& style);

}  // namespace troupe::llm
