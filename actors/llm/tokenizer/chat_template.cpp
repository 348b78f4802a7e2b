#include "actors/llm/tokenizer/chat_template.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

#include "actors/llm/files/llm_file_error.hpp"
#include "actors/llm/jinja/jinja_template.hpp"
#include "actors/llm/jinja/json_value.hpp"
#include "actors/llm/tokenizer/byte_tokenizer.hpp"
#include "runtime/base/utf8.hpp"

namespace troupe::llm {

struct chat_style::program {
  /// A value that is computed when it is first needed.
  template <class T>
  class lazy {
   public:
    template <class Compute>
    const T& get(const Compute& compute) {
      std::call_once(once_, [&] { value_ = compute(); });
      return value_;
    }

   private:
    std::once_flag once_;
    T value_ = {};
  };
  /// What is needed with each prompt, and is the same for all.
  struct facts {
    lazy<jinja::text> answered;  ///< a short conversation, in which the end of a turn is looked for
    std::array<lazy<bool>, 4> rewrites;  ///< with thoughts or not, with tools or not
  };

  std::string source, name;
  named_templates templates;
  named_tokens tokens;
  jinja::jinja_template plain;
  std::optional<jinja::jinja_template> for_tools;
  std::shared_ptr<facts> known;
};

const chat_style chat_style::bytes(byte_chat_template(), "the bytes model");

namespace {

jinja::jinja_template parsed_template(std::string_view source, const std::string& place) {
  try {
    return jinja::jinja_template(source);
  } catch (const jinja::template_error& e) {
    throw llm_file_error(place + ": the chat template: " + e.what());
  }
}

}  // namespace

chat_style::chat_style(std::string_view jinja, const std::string& place, named_tokens tokens,
                       std::string name, named_templates others) {
  program made{.source = std::string(jinja),
               .name = std::move(name),
               .templates = std::move(others),
               .tokens = std::move(tokens),
               .plain = parsed_template(jinja, place),
               .for_tools = std::nullopt,
               .known = std::make_shared<program::facts>()};
  const auto for_tools = made.templates.find("tool_use");
  if (for_tools != made.templates.end()) made.for_tools = parsed_template(for_tools->second, place);
  made.templates.insert_or_assign("default", made.source);
  made.templates.insert_or_assign(made.name, made.source);
  program_ = std::make_shared<const program>(std::move(made));
}

const std::string& chat_style::name() const { return program_->name; }
const std::string& chat_style::source() const { return program_->source; }
const named_templates& chat_style::templates() const { return program_->templates; }
const named_tokens& chat_style::tokens() const { return program_->tokens; }

bool chat_style::operator==(const chat_style& other) const {
  const auto &a = *program_, &b = *other.program_;
  return a.templates == b.templates && a.tokens == b.tokens;
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
  return chat_style(jinja, place);
}

namespace {

using messages = std::vector<chat_message>;

[[noreturn]] void refuse(const std::string& what) { throw std::invalid_argument("chat: " + what); }

std::string quoted(const std::string& text) { return '"' + detail::printable(text, 60) + '"'; }

/// A date such as 26 Jul 2024, at midnight.
std::tm date_of(const std::string& text) {
  constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto digits = [&](std::size_t at, std::size_t count) {
    int number = 0;
    for (auto i = at; i < at + count; ++i)
      number = text[i] >= '0' && text[i] <= '9' ? number * 10 + text[i] - '0' : 100'000;
    return number;
  };
  const bool fits = text.size() == 11 && text[2] == ' ' && text[6] == ' ';
  const auto month = fits ? std::ranges::find(months, text.substr(3, 3)) : months.end();
  std::tm date{};
  if (month != months.end()) {
    date.tm_mday = digits(0, 2);
    date.tm_mon = static_cast<int>(month - months.begin());
    date.tm_year = digits(7, 4) - 1900;
  }
  if (month == months.end() || date.tm_mday < 1 || date.tm_mday > 31 || date.tm_year > 8099)
    refuse("expected a date such as 26 Jul 2024, got " + quoted(text));
  date.tm_isdst = -1;
  std::tm whole = date;
  timegm(&whole);  // sets the days of the week and of the year
  return whole;
}

jinja::value json_value(const std::string& json, const std::string& what) {
  try {
    return jinja::value_of_json(json, jinja::from_data);
  } catch (const std::invalid_argument& e) {
    refuse(what + ": " + e.what());
  }
}

/// The role of a message. It has no mark, since templates make special tokens of roles, so only
/// roles that the template knows may be here.
jinja::value role_of(const std::string& role, const jinja::jinja_template& by) {
  constexpr std::array<std::string_view, 4> common{"system", "user", "assistant", "tool"};
  if (std::ranges::find(common, role) == common.end() && !by.has_string(role))
    refuse(
        "expected the role system, user, assistant, tool or another one that the chat template "
        "names, got " +
        quoted(role));
  return jinja::unmarked(role);
}

/// The message without fields that are null, and with thoughts under the names that templates
/// read, as in transformers.
jinja::value value_of(const chat_message& message, const jinja::jinja_template& by) {
  jinja::dict made;
  made.set(jinja::unmarked("role"), role_of(message.role, by));
  made.set(jinja::unmarked("content"), jinja::marked(message.content, jinja::from_data));
  if (!message.fields.empty()) {
    const auto fields = json_value(message.fields, "the fields of a message");
    if (!fields.as_dict())
      refuse("expected an object as the fields of a message, got another value");
    for (const auto& [key, held] : fields.as_dict()->entries) {
      if (key.as_text()->chars != "role") made.set(key, held);
    }
  }
  std::erase_if(made.entries, [](const auto& entry) { return entry.second.is_none(); });
  const jinja::value* thoughts = nullptr;
  for (const std::string_view name : {"reasoning_content", "thinking", "reasoning"})
    if (!thoughts) thoughts = made.find(name);
  if (!thoughts) return made;
  const auto held = *thoughts;
  jinja::dict named;
  named.set(jinja::unmarked("thinking"), held);
  for (const auto& [key, other] : made.entries) named.set(key, other);
  named.set(jinja::unmarked("reasoning_content"), held);
  return named;
}

}  // namespace

jinja::text render_chat(const chat_style& style, const messages& all, const chat_options& options) {
  if (all.empty()) refuse("expected a message or more, got none");
  const auto& program = style.parsed();
  const bool has_tools = !options.tools.empty();
  const auto& by = has_tools && program.for_tools ? *program.for_tools : program.plain;
  jinja::list said;
  for (const auto& message : all) {
    said.items.push_back(value_of(message, by));
    said.depth = std::max(said.depth, said.items.back().depth() + 1);
  }
  jinja::dict variables;
  for (const auto& [name, text] : program.tokens)
    variables.set(jinja::unmarked(name), jinja::unmarked(text));
  const auto set = [&](std::string_view name, jinja::value to) {
    variables.set(jinja::unmarked(name), std::move(to));
  };
  set("messages", std::move(said));
  auto tools = has_tools ? json_value(options.tools, "the tools") : jinja::value(jinja::none{});
  if (has_tools && !tools.as_list()) refuse("expected a list of tools, got another value");
  set("tools", std::move(tools));
  set("documents", jinja::none{});
  set("add_generation_prompt", options.generation_prompt);
  set("enable_thinking", options.thinking);
  const auto date = date_of(options.date);
  try {
    return by.render(variables, date);
  } catch (const jinja::template_error& e) {
    refuse(std::string("the chat template can't write the conversation: ") + e.what());
  }
}

namespace {

/// True if no byte of [begin, begin + count) comes from a message.
bool is_of_template(const jinja::text& text, std::size_t begin, std::size_t count) {
  for (auto i = begin; i < begin + count; ++i)
    if (text.mark(i) & jinja::from_data) return false;
  return true;
}

/// A token in a text, which the template itself wrote.
struct placed_token {
  std::size_t begin = 0, end = 0;
  token_id id = 0;
};

/// The first added token of the template in [begin, end) of a text.
std::optional<placed_token> next_token(const tokenizer& tokens, const jinja::text& text,
                                       std::size_t begin, std::size_t end, bool special_only) {
  const auto all = std::string_view(text.chars).substr(0, end);
  for (auto at = begin; at < end; ++at) {
    const auto id = tokens.added_at(all.substr(at), special_only);
    if (!id) continue;
    const auto length = tokens.bytes_of(*id).size();
    if (is_of_template(text, at, length)) return placed_token{at, at + length, *id};
  }
  return std::nullopt;
}

std::vector<token_id> encode_text(const tokenizer& tokens, const jinja::text& text,
                                  std::size_t begin, std::size_t end) {
  std::vector<token_id> ids;
  while (begin < end) {
    const auto token = next_token(tokens, text, begin, end, true);
    const auto stop = token ? token->begin : end;
    if (stop > begin) {
      const auto more = tokens.encode(std::string_view(text.chars).substr(begin, stop - begin));
      ids.insert(ids.end(), more.begin(), more.end());
    }
    if (!token) break;
    ids.push_back(token->id);
    begin = token->end;
  }
  return ids;
}

// An answer that no template has in its own text.
constexpr std::string_view probe = "qzanswerqz";

/// Where the probe ends in the text of a conversation in which it is an answer.
std::size_t end_of_probe(const jinja::text& text) {
  const auto at = text.chars.rfind(probe);
  if (at == text.chars.npos) {
    refuse(
        "expected a chat template that writes answers as they are, got one that writes the "
        "answer " +
        quoted(std::string(probe)) + " as " + quoted(text.chars) +
        "; templates for content that is a list of parts, such as images, are not read");
  }
  return at + probe.size();
}

const messages probe_messages{{"user", "x"}, {"assistant", std::string(probe)}};

}  // namespace

std::vector<token_id> encode_chat(const tokenizer& tokens, const chat_style& style,
                                  const messages& all, const chat_options& options) {
  const auto text = render_chat(style, all, options);
  return encode_text(tokens, text, 0, text.size());
}

std::string end_of_turn(const tokenizer& tokens, const chat_style& style) {
  const auto& text = style.parsed().known->answered.get(
      [&] { return render_chat(style, probe_messages, {.generation_prompt = false}); });
  const auto token = next_token(tokens, text, end_of_probe(text), text.size(), false);
  return token ? std::string(tokens.bytes_of(token->id)) : std::string();
}

bool rewrites_turns(const chat_style& style, const chat_options& options) {
  const auto compute = [&] {
    auto opening = options;
    opening.generation_prompt = true;
    const chat_message asked{"user", "x"}, next{"user", "z"};
    const chat_message answer{"assistant", "<think>\nThought.\n</think>\n\ny"};
    try {
      const auto before = render_chat(style, {asked}, opening).chars;
      const auto after = render_chat(style, {asked, answer, next}, opening).chars;
      return !after.starts_with(before) || after.find("Thought.") == after.npos;
    } catch (const std::invalid_argument&) {
      return false;  // a template for one turn alone
    }
  };
  const auto which = (options.thinking ? 1u : 0u) + (options.tools.empty() ? 0u : 2u);
  return style.parsed().known->rewrites[which].get(compute);
}

std::vector<token_id> encode_next_turn(const tokenizer& tokens, const chat_style& style,
                                       const chat_message& next, const chat_options& options) {
  // The ids after an answer are the same for any conversation, so a short one serves.
  auto all = probe_messages;
  all.push_back(next);
  const auto text = render_chat(style, all, options);
  auto begin = end_of_probe(text);
  if (!end_of_turn(tokens, style).empty()) {
    const auto end = next_token(tokens, text, begin, text.size(), false);
    if (end) begin = end->end;
  }
  return encode_text(tokens, text, begin, text.size());
}

namespace {

/// The answer where the template drops what the generation prompt opened: `opened` is the end of
/// the prompt, such as <think>, which the answer's text must begin with.
jinja::text answer_after(const std::string& opened, const chat_message& answer) {
  const auto wanted = jinja::strip(jinja::unmarked(opened), "", true, true);
  const auto content =
      jinja::strip(jinja::marked(answer.content, jinja::from_data), "", true, false);
  if (wanted.size() == 0 || !content.chars.starts_with(wanted.chars))
    refuse(
        "expected an answer that follows the generation prompt, but the chat template begins the "
        "answer " +
        quoted(answer.content) + " otherwise than the prompt's end " + quoted(opened) +
        "; an answer with thoughts begins with them");
  // The prompt has the white space after what it opens, too.
  auto rest = jinja::part(content, wanted.size(), content.size());
  const auto space = opened.substr(opened.rfind(wanted.chars) + wanted.size());
  if (rest.chars.starts_with(space)) rest = jinja::part(rest, space.size(), rest.size());
  return rest;
}

}  // namespace

std::vector<token_id> encode_answer(const tokenizer& tokens, const chat_style& style,
                                    const messages& before, const chat_message& answer,
                                    const chat_options& options) {
  auto opening = options, whole = options;
  opening.generation_prompt = true;
  whole.generation_prompt = false;
  auto all = before;
  all.push_back(answer);
  const auto prompt = render_chat(style, before, opening), text = render_chat(style, all, whole);
  const auto [differs, at] = std::ranges::mismatch(prompt.chars, text.chars);
  auto begin = static_cast<std::size_t>(differs - prompt.chars.begin());
  std::vector<token_id> ids;
  if (begin < prompt.size()) {
    const auto written = answer_after(prompt.chars.substr(begin), answer);
    ids = encode_text(tokens, written, 0, written.size());
  }
  // The turn ends with the last token of the template. Text after it, such as a line break, is the
  // next turn's.
  std::optional<placed_token> end;
  for (auto from = begin; const auto token = next_token(tokens, text, from, text.size(), false);) {
    end = token;
    from = token->end;
  }
  if (!end) refuse("expected a chat template that ends an answer with a token, got one without it");
  if (begin < prompt.size()) {
    ids.push_back(end->id);
    return ids;
  }
  return encode_text(tokens, text, begin, end->end);
}

}  // namespace troupe::llm
