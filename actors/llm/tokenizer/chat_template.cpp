#include "actors/llm/tokenizer/chat_template.hpp"

#include <array>
#include <nlohmann/json.hpp>

#include "actors/checkpoint/sha256.hpp"
#include "actors/llm/files/gguf.hpp"
#include "actors/llm/files/json_file.hpp"
#include "actors/llm/tokenizer/byte_tokenizer.hpp"
#include "runtime/base/utf8.hpp"

namespace troupe::llm {
namespace {

namespace fs = std::filesystem;

struct known_template {
  std::string_view digest;
  chat_style style;
};

// The published templates of SmolLM2-135M-Instruct, Qwen2.5-Instruct, Qwen3, Llama-3(.1) and
// Llama-3.2.
constexpr std::array<known_template, 5> known_templates{{
    {"872be49dbb638044ad01b60388f48d469ff2980e5f0dccdc22ec907db54d0788", chat_style::smollm2},
    {"cd8e9439f0570856fd70470bf8889ebd8b5d1107207f67a5efb46e342330527f", chat_style::qwen2_5},
    {"87a2728cb8dc9fe424d624542f6060ec05a1d285ebbec578bb078900e33396b5", chat_style::qwen3},
    {"ba03a121d097859c7b5b9cd03af99aafe95275210d2876f642ad9929a150f122", chat_style::llama3},
    {"5816fce10444e03c2e9ee1ef8a4a1ea61ae7e69e438613f3b17b69d0426223a4", chat_style::llama3_2},
}};

constexpr std::string_view smollm2_system =
    "You are a helpful AI assistant named SmolLM, trained by Hugging Face";
constexpr std::string_view qwen2_5_system =
    "You are Qwen, created by Alibaba Cloud. You are a helpful assistant.";

// The characters that Python's str.strip removes.
constexpr std::string_view spaces[] = {" ",      "\n",     "\t",     "\r",     "\v",     "\f",
                                       "\x1c",   "\x1d",   "\x1e",   "\x1f",   "\u0085", "\u00a0",
                                       "\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004",
                                       "\u2005", "\u2006", "\u2007", "\u2008", "\u2009", "\u200a",
                                       "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"};

std::string_view trimmed(std::string_view text) {
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto space : spaces) {
      if (text.starts_with(space)) {
        text.remove_prefix(space.size());
        changed = true;
      }
      if (text.ends_with(space)) {
        text.remove_suffix(space.size());
        changed = true;
      }
    }
  }
  return text;
}

std::string_view without_first_lines(std::string_view text) {
  while (text.starts_with('\n')) text.remove_prefix(1);
  return text;
}
std::string_view without_last_lines(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

/// Collects pieces. Consecutive texts are joined, since they are tokenised as one.
class chat_writer {
 public:
  chat_writer& token(std::string_view name) {
    pieces_.push_back({std::string(name), true});
    return *this;
  }
  chat_writer& text(std::string_view text) {
    if (text.empty()) return *this;
    if (pieces_.empty() || pieces_.back().is_token) pieces_.push_back({});
    pieces_.back().text += text;
    return *this;
  }

  // `turn` writes a turn of ChatML, and the function after it a turn of Llama 3.
  chat_writer& turn(std::string_view role, std::string_view content) {
    return token("<|im_start|>").text(role).text("\n").text(content).token("<|im_end|>").text("\n");
  }
  chat_writer& header(std::string_view role) {
    return token("<|start_header_id|>").text(role).token("<|end_header_id|>").text("\n\n");
  }

  std::vector<chat_piece> take() { return std::move(pieces_); }

 private:
  std::vector<chat_piece> pieces_;
};

using messages = std::vector<chat_message>;

void write_chatml(chat_writer& to, const messages& all, std::string_view default_system) {
  if (all[0].role != "system") to.turn("system", default_system);
  for (const auto& message : all) to.turn(message.role, message.content);
}

/// The parts of an answer of Qwen3: its thoughts and the answer itself.
struct thought_answer {
  std::string_view thought, answer;
};

thought_answer split_thought(std::string_view content) {
  constexpr std::string_view begin = "<think>", end = "</think>";
  const auto last = content.rfind(end);
  if (last == content.npos) return {"", content};
  auto thought = without_last_lines(content.substr(0, content.find(end)));
  if (const auto at = thought.rfind(begin); at != thought.npos) {
    thought.remove_prefix(at + begin.size());
  }
  return {without_first_lines(thought), without_first_lines(content.substr(last + end.size()))};
}

// Qwen3's template keeps thoughts only after the user's last question. An answer there that ends
// the conversation is written with thoughts even if it has none.
void write_qwen3(chat_writer& to, const messages& all) {
  std::size_t question = all.size() - 1;
  for (std::size_t i = all.size(); i-- > 0;) {
    const auto& [role, content, fields] = all[i];
    const bool tool =
        content.starts_with("<tool_response>") && content.ends_with("</tool_response>");
    if (role != "user" || tool) continue;
    question = i;
    break;
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& [role, content, fields] = all[i];
    if (role != "assistant") {
      to.turn(role, content);
      continue;
    }
    const auto [thought, answer] = split_thought(content);
    if (i > question && (i + 1 == all.size() || !thought.empty())) {
      std::string whole = "<think>\n";
      whole += without_last_lines(thought);
      whole += "\n</think>\n\n";
      whole += without_first_lines(answer);
      to.turn(role, whole);
    } else {
      to.turn(role, answer);
    }
  }
}

void write_llama3(chat_writer& to, const messages& all, std::size_t first) {
  for (std::size_t i = first; i < all.size(); ++i) {
    to.header(all[i].role).text(trimmed(all[i].content)).token("<|eot_id|>");
  }
}

void write_llama3_2(chat_writer& to, const messages& all, const chat_options& options) {
  const bool system = all[0].role == "system";
  to.header("system").text("Cutting Knowledge Date: December 2023\nToday Date: ");
  to.text(options.date).text("\n\n");
  if (system) to.text(trimmed(all[0].content));
  to.token("<|eot_id|>");
  write_llama3(to, all, system ? 1 : 0);
}

void write_bytes(chat_writer& to, const messages& all) {
  for (const auto& [role, content, fields] : all)
    to.token("<|" + role + "|>").text(content).token(end_of_turn(chat_style::bytes));
}

bool is_llama(chat_style style) {
  return style == chat_style::llama3 || style == chat_style::llama3_2;
}

}  // namespace

std::string_view name_of(chat_style style) {
  switch (style) {
    case chat_style::smollm2:
      return "smollm2";
    case chat_style::qwen2_5:
      return "qwen2.5";
    case chat_style::qwen3:
      return "qwen3";
    case chat_style::llama3:
      return "llama3";
    case chat_style::llama3_2:
      return "llama3.2";
    case chat_style::bytes:
      return "bytes";
  }
  return "";
}

namespace {

// The statements that set the default of the variable with which templates turn thoughts off. The
// line's end belongs to the statement (trim_blocks), so that a template which begins with one keeps
// its own.
constexpr std::string_view thoughts_off =
    "{%- if enable_thinking is not defined %}{%- set enable_thinking = false %}{%- endif %}\n";
constexpr std::string_view thoughts_on =
    "{%- if enable_thinking is not defined %}{%- set enable_thinking = true %}{%- endif %}\n";

}  // namespace

std::string with_thinking(std::string_view jinja, bool thinking) {
  jinja = without_thinking(jinja).first;
  return std::string(thinking ? thoughts_on : thoughts_off).append(jinja);
}

std::pair<std::string_view, std::optional<bool>> without_thinking(std::string_view jinja) {
  for (const bool thinking : {false, true}) {
    const auto begin = thinking ? thoughts_on : thoughts_off;
    if (jinja.starts_with(begin)) return {jinja.substr(begin.size()), thinking};
  }
  return {jinja, std::nullopt};
}

chat_style chat_style_of(std::string_view jinja, const std::string& place) {
  jinja = without_thinking(jinja).first;
  if (jinja == byte_chat_template()) return chat_style::bytes;
  const auto digest = sha256(jinja);
  for (const auto& known : known_templates) {
    if (known.digest == digest) return known.style;
  }
  throw llm_file_error(
      place +
      ": expected the chat template of SmolLM2, Qwen2.5, Qwen3, Llama 3 or Llama 3.2 as "
      "published, got one with SHA-256 " +
      digest);
}

std::optional<std::string> find_chat_template(const fs::path& path) {
  if (path.extension() == ".gguf") {
    const gguf_file file(path);
    const auto* text = file.find<std::string_view>("tokenizer.chat_template");
    return text ? std::optional<std::string>(*text) : std::nullopt;
  }
  if (const auto own = path / "chat_template.jinja"; fs::exists(own))
    return std::string(mapped_file(own).bytes());
  const auto config = path / "tokenizer_config.json";
  if (!fs::exists(config)) return std::nullopt;
  const auto fields = read_model_json(config);
  if (!fields.is_object()) throw llm_file_error(config.string() + ": expected an object");
  const auto found = fields.find("chat_template");
  if (found == fields.end() || found->is_null()) return std::nullopt;
  if (!found->is_string())
    throw llm_file_error(config.string() + ": /chat_template: expected a text");
  return found->get<std::string>();
}

std::string read_chat_template(const fs::path& path) {
  auto found = find_chat_template(path);
  if (!found)
    throw llm_file_error(path.string() +
                         ": expected a chat template, got none: it is a base model");
  return *std::move(found);
}

chat_style read_chat_style(const fs::path& path) {
  return chat_style_of(read_chat_template(path), path.string());
}

std::vector<chat_piece> render_chat(chat_style style, const messages& all,
                                    const chat_options& options) {
  if (all.empty()) throw std::invalid_argument("chat: expected a message or more, got none");
  if (!options.tools.empty())
    throw std::invalid_argument("chat: this chat template takes no tools");
  for (const auto& message : all) {
    if (!message.fields.empty())
      throw std::invalid_argument("chat: expected messages with a role and a content, got also " +
                                  detail::printable(message.fields, 200));
    const bool is_known = message.role == "system" || message.role == "user" ||
                          message.role == "assistant" ||
                          (message.role == "tool" && style == chat_style::bytes);
    if (!is_known)
      throw std::invalid_argument("chat: expected the role system, user or assistant, got \"" +
                                  detail::printable(message.role, 60) + '"');
  }
  chat_writer to;
  if (is_llama(style)) to.token("<|begin_of_text|>");
  switch (style) {
    case chat_style::smollm2:
      write_chatml(to, all, smollm2_system);
      break;
    case chat_style::qwen2_5:
      write_chatml(to, all, qwen2_5_system);
      break;
    case chat_style::qwen3:
      write_qwen3(to, all);
      break;
    case chat_style::llama3:
      write_llama3(to, all, 0);
      break;
    case chat_style::llama3_2:
      write_llama3_2(to, all, options);
      break;
    case chat_style::bytes:
      write_bytes(to, all);
      break;
  }
  if (options.generation_prompt) {
    if (style == chat_style::bytes) {
      to.token("<|assistant|>");
    } else if (is_llama(style)) {
      to.header("assistant");
    } else {
      to.token("<|im_start|>").text("assistant\n");
      if (style == chat_style::qwen3 && !options.thinking) to.text("<think>\n\n</think>\n\n");
    }
  }
  return to.take();
}

namespace {

std::vector<token_id> encode_pieces(const tokenizer& tokens, chat_style style,
                                    std::span<const chat_piece> pieces) {
  std::vector<token_id> ids;
  for (const auto& piece : pieces) {
    if (!piece.is_token) {
      const auto more = tokens.encode(piece.text);
      ids.insert(ids.end(), more.begin(), more.end());
    } else if (const auto id = tokens.find(piece.text)) {
      ids.push_back(*id);
    } else {
      throw std::invalid_argument("chat: expected a tokenizer with the special token " +
                                  piece.text + ", which the style " + std::string(name_of(style)) +
                                  " needs");
    }
  }
  return ids;
}

}  // namespace

std::vector<token_id> encode_chat(const tokenizer& tokens, chat_style style, const messages& all,
                                  const chat_options& options) {
  return encode_pieces(tokens, style, render_chat(style, all, options));
}

std::vector<token_id> encode_next_turn(const tokenizer& tokens, chat_style style,
                                       const chat_message& next, const chat_options& options) {
  // The ids after an answer are the same for any conversation, so a short one serves.
  const auto pieces = render_chat(style, {{"user", "x"}, {"assistant", "y"}, next}, options);
  const auto ends_turn = [&](const chat_piece& piece) {
    return piece.is_token && piece.text == end_of_turn(style);
  };
  const auto last = std::find_if(pieces.rbegin(), pieces.rend(), ends_turn);
  const auto answer = std::find_if(std::next(last), pieces.rend(), ends_turn);
  return encode_pieces(tokens, style, {answer.base(), pieces.end()});
}

std::vector<token_id> encode_answer(const tokenizer& tokens, chat_style style,
                                    const messages& before, const chat_message& answer,
                                    const chat_options& options) {
  auto all = before;
  all.push_back(answer);
  render_chat(style, all, options);  // refuses what it can't write
  auto ids = tokens.encode(answer.content);
  const chat_piece end{std::string(end_of_turn(style)), true};
  const auto ending = encode_pieces(tokens, style, {&end, 1});
  ids.insert(ids.end(), ending.begin(), ending.end());
  return ids;
}

std::string_view end_of_turn(chat_style style) {
  if (style == chat_style::bytes) return "<|end|>";
  return is_llama(style) ? "<|eot_id|>" : "<|im_end|>";
}

}  // namespace troupe::llm
