#include "actors/llm/tasks/data_rows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "actors/data/jsonl.hpp"
#include "actors/data/shuffled_order.hpp"
#include "actors/python/parquet_rows.hpp"
#include "actors/random/derived_seed.hpp"
#include "runtime/config/config_error.hpp"
#include "runtime/config/json_text.hpp"

namespace troupe::llm {

using nlohmann::json;
using nlohmann::ordered_json;

// ---- files -----------------------------------------------------------------------------------

namespace {

std::string joined(const std::vector<std::string>& faults) {
  constexpr std::size_t most = 20;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, faults.size()); ++i)
    text += (i > 0 ? "\n" : "") + faults[i];
  if (faults.size() > most)
    text += fmt::format("\nand {} more; `troupe check-data` lists all", faults.size() - most);
  return text;
}

struct other_kind {
  const char *ending, *name, *remedy;
};

constexpr const char* lines_from_pandas =
    "write lines in Python: pandas.read_csv(FILE).to_json(\"train.jsonl\", orient=\"records\", "
    "lines=True)";

constexpr std::array<other_kind, 7> other_kinds{
    {{".csv", "CSV", lines_from_pandas},
     {".tsv", "tab-separated values", lines_from_pandas},
     {".txt", "plain text", "write each document as a line {\"text\": ...}"},
     {".arrow", "Arrow",
      "write lines in Python: datasets.Dataset.from_file(FILE).to_json(\"train.jsonl\")"},
     {".gz", "a compressed file", "gunzip expands it"},
     {".zst", "a compressed file", "zstd -d expands it"},
     {".xz", "a compressed file", "unxz expands it"}}};

/// Throws data_error for a file that is neither JSON Lines nor Parquet.
void refuse_other_kinds(const std::filesystem::path& path) {
  const auto refuse = [&](const char* got, const char* remedy) {
    throw data_error({fmt::format("{}: expected JSON Lines or Parquet, got {}; {}", path.string(),
                                  got, remedy)});
  };
  for (const auto& [ending, name, remedy] : other_kinds)
    if (path.extension() == ending) refuse(name, remedy);
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return;  // the reader says what is wrong
  std::ifstream file(path);
  if (char first = 0; file >> first && first == '[')
    refuse("a list of JSON", "`jq -c .[] FILE` writes each of its items as a line");
}

using row_taker = std::function<void(const json& row, std::string_view text)>;

void for_each_row_of_parquet(const std::filesystem::path& path, const python_options& python,
                             const row_taker& take, std::vector<std::string>& faults) {
  std::int64_t rows = 0;
  for_each_parquet_row(path, python, [&](const parquet_row& row) {
    ++rows;
    try {
      if (!row.refusal.empty()) throw std::invalid_argument(row.refusal);
      take(parse_json(row.text, "row"), row.text);
    } catch (const std::exception& error) {
      faults.push_back(fmt::format("{}:{}: {}", path.string(), row.number, error.what()));
    }
  });
  if (rows == 0) throw jsonl_error(path.string() + ": expected at least one row, got none");
}

}  // namespace

data_error::data_error(const std::vector<std::string>& faults)
    : std::invalid_argument(joined(faults)), faults_(faults) {}

void for_each_row(const std::filesystem::path& path, const python_options& python,
                  const row_taker& take) {
  std::vector<std::string> faults;
  if (path.extension() == ".parquet") {
    if (std::error_code ignored; !std::filesystem::is_regular_file(path, ignored))
      throw jsonl_error(path.string() + ": expected a regular file that can be read, got none");
    for_each_row_of_parquet(path, python, take, faults);
  } else {
    refuse_other_kinds(path);
    const auto refuse = [&](const jsonl_error& error) { faults.emplace_back(error.what()); };
    for_each_jsonl_text(path, take, {.on_bad_line = refuse});
  }
  if (!faults.empty()) throw data_error(faults);
}

// ---- fields ----------------------------------------------------------------------------------

namespace {

template <class Json>
std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

bool has_value(const json& row, const std::string& name) {
  const auto found = row.find(name);
  return found != row.end() && !found->is_null();
}

/// What a row without a field may have been meant to be.
std::string hint_for(const json& row, const std::string& name) {
  if (has_value(row, "chosen") && has_value(row, "rejected"))
    return "; chosen and rejected answers are for learning from preferences, which no algorithm "
           "here does";
  if (name == "prompt" && has_value(row, "messages"))
    return "; --algo sft learns the answers in messages, and task.prompt=messages asks them";
  if (name == "prompt" && has_value(row, "text")) return "; --algo sft learns texts";
  return {};
}

/// Refuses a row whose field is missing or null. Parquet has null in columns that a row lacks.
[[noreturn]] void refuse_missing(const json& row, const std::string& name) {
  if (row.contains(name))
    throw std::invalid_argument(
        fmt::format("{}: expected a value, got null{}", name, hint_for(row, name)));
  auto names = keys_of(row);
  for (auto& each : names)
    if (row[each].is_null()) each += " (null)";
  throw std::invalid_argument(fmt::format("expected the field \"{}\", got the fields {}{}", name,
                                          fmt::join(names, ", "), hint_for(row, name)));
}

std::string shown(const ordered_json& value) { return detail::show(json::parse(value.dump())); }

/// Writes the fields of the row into a template.
std::string filled(const std::string& pattern, const json& row) {
  std::string text;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    const bool doubled = i + 1 < pattern.size() && pattern[i + 1] == c;
    if ((c == '{' || c == '}') && doubled) {
      text += c;
      ++i;
    } else if (c == '{') {
      const auto end = pattern.find('}', i);
      if (end == pattern.npos)
        throw std::invalid_argument(
            fmt::format("the prompt's template: expected }} after {{, got \"{}\"", pattern));
      const auto name = pattern.substr(i + 1, end - i - 1);
      text += text_of(field_of(row, name), name);
      i = end;
    } else {
      text += c;
    }
  }
  return text;
}

/// The row with the keys of all objects in their order, in which chat templates write them.
ordered_json in_order(const row_view& row) {
  return ordered_json::parse(row.text.empty() ? row.object.dump() : std::string(row.text));
}

// ---- messages --------------------------------------------------------------------------------

/// Messages, and for each whether it says itself if it is learned.
struct said_messages {
  std::vector<chat_message> messages;
  std::vector<std::optional<bool>> learned;
};

std::string part_text(const ordered_json& part, const std::string& name) {
  const auto kind = part.is_object() ? part.find("type") : part.end();
  if (!part.is_object() || kind == part.end() || !kind->is_string())
    throw std::invalid_argument(
        fmt::format("{}: expected a part with a \"type\", got {}", name, shown(part)));
  const auto text = part.find("text");
  if (*kind != "text")
    throw std::invalid_argument(
        fmt::format("{}: expected a part of the type text, as models here read text alone, got the "
                    "type {}",
                    name, shown(*kind)));
  if (text == part.end() || !text->is_string())
    throw std::invalid_argument(fmt::format("{}.text: expected a text, got {}", name,
                                            text == part.end() ? "none" : shown(*text)));
  return text->get<std::string>();
}

/// The content of a message: a text, or the texts of its parts without anything between them, as
/// chat templates write them. A message that calls tools may lack it.
std::string content_of(const ordered_json& message, bool calls, const std::string& name) {
  const auto found = message.find("content");
  const bool is_there = found != message.end() && !found->is_null();
  if (!is_there && calls) return {};
  if (is_there && found->is_string()) return found->get<std::string>();
  if (!is_there || !found->is_array())
    throw std::invalid_argument(fmt::format("{}.content: expected a text, got {}", name,
                                            found == message.end() ? "none" : shown(*found)));
  std::string text;
  for (std::size_t i = 0; i < found->size(); ++i)
    text += part_text((*found)[i], fmt::format("{}.content[{}]", name, i));
  return text;
}

void check_calls(const ordered_json& calls, const std::string& name) {
  const auto is_call = [](const ordered_json& call) {
    const auto function = call.is_object() ? call.find("function") : call.end();
    const auto& named = function != call.end() && function->is_object() ? *function : call;
    return named.is_object() && named.contains("name") && named["name"].is_string();
  };
  if (!calls.is_array() || !std::ranges::all_of(calls, is_call))
    throw std::invalid_argument(
        fmt::format("{}: expected a list of calls, each with the name of its function, got {}",
                    name, shown(calls)));
}

/// Whether the field says that its message is learned.
bool is_learned(const ordered_json& value, const std::string& name) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number() && (value == 0 || value == 1)) return value == 1;
  throw std::invalid_argument(
      fmt::format("{}: expected 0 or 1, false or true, got {}", name, shown(value)));
}

/// The fields of messages that are texts, which chat templates pass over or misread if they are
/// not.
constexpr std::array<std::string_view, 4> text_fields{"tool_call_id", "name", "reasoning_content",
                                                      "thinking"};

void add_message(said_messages& to, const ordered_json& message, const std::string& name) {
  if (!message.is_object())
    throw std::invalid_argument(fmt::format(
        "{}: expected a message with \"role\" and \"content\", got {}", name, shown(message)));
  const auto role = message.find("role");
  if (role == message.end() || !role->is_string())
    throw std::invalid_argument(fmt::format(
        "{}.role: expected a text, as messages have a \"role\" and a \"content\", got "
        "{}",
        name,
        role == message.end() ? "the fields " + fmt::format("{}", fmt::join(keys_of(message), ", "))
                              : shown(*role)));
  chat_message made{.role = role->get<std::string>(), .content = {}};
  std::optional<bool> learned;
  auto others = ordered_json::object();
  for (const auto& [key, value] : message.items()) {
    const auto place = name + "." + key;
    if (key == "role" || key == "content" || value.is_null()) continue;
    if (key == "function_call")
      throw std::invalid_argument(place +
                                  ": expected tool_calls in its place, which chat templates write");
    if (key == "weight" || key == "train") {
      learned = is_learned(value, place);
      if (*learned && made.role != "assistant")
        throw std::invalid_argument(fmt::format(
            "{}: expected it in messages of the assistant alone, which are what is learned, got "
            "the role {}",
            place, made.role));
      continue;
    }
    if (std::ranges::find(text_fields, key) != text_fields.end() && !value.is_string())
      throw std::invalid_argument(fmt::format("{}: expected a text, got {}", place, shown(value)));
    if (key == "tool_calls") {
      check_calls(value, place);
      if (value.empty()) continue;
    }
    others[key] = value;
  }
  const bool calls = made.role == "assistant" && others.contains("tool_calls");
  made.content = content_of(message, calls, name);
  if (!others.empty()) made.fields = others.dump();
  to.messages.push_back(std::move(made));
  to.learned.push_back(learned);
}

said_messages messages_of(const ordered_json& list, const std::string& name) {
  if (!list.is_array())
    throw std::invalid_argument(
        fmt::format("{}: expected a list of messages, got {}", name, shown(list)));
  said_messages made;
  for (std::size_t i = 0; i < list.size(); ++i)
    add_message(made, list[i], fmt::format("{}[{}]", name, i));
  return made;
}

/// True for a list of messages, as against a list of other values.
bool are_messages(const json& value) {
  return value.is_array() && !value.empty() && value.front().is_object();
}

/// The tools of a row: a list, or the text of one, as datasets have them whose columns can't hold
/// objects of different fields.
std::string tools_of(const row_view& row) {
  if (const auto found = row.object.find("chat_template_kwargs");
      found != row.object.end() && !found->is_null() && !found->empty())
    throw std::invalid_argument(
        "chat_template_kwargs: expected none, as all rows have the same options of the chat "
        "template, got " +
        detail::show(*found));
  if (!has_value(row.object, "tools")) return {};
  auto tools = in_order(row)["tools"];
  const auto refuse = [](const std::string& got) {
    throw std::invalid_argument("tools: expected a list of tools, or its text in JSON, got " + got);
  };
  if (tools.is_string()) {
    const auto text = tools.get<std::string>();
    if (text.empty()) return {};
    try {
      parse_json(text, "tools");
    } catch (const config_error&) {
      refuse(shown(tools));
    }
    tools = ordered_json::parse(text);
    if (tools.is_null()) return {};
  }
  const auto is_tool = [](const ordered_json& tool) { return tool.is_object(); };
  if (!tools.is_array() || !std::ranges::all_of(tools, is_tool)) refuse(shown(tools));
  return tools.empty() ? std::string() : tools.dump();
}

/// The name of the field with the right answer.
std::string answer_field(const json& row, const data_fields& fields) {
  // Where both are null or missing, the one that the row has is named.
  if (fields.answer == "answer" && !has_value(row, "answer") && row.contains("completion") &&
      (has_value(row, "completion") || !row.contains("answer")))
    return "completion";
  return fields.answer;
}

}  // namespace

const json& field_of(const json& row, const std::string& name) {
  const auto found = row.find(name);
  if (found == row.end() || found->is_null()) refuse_missing(row, name);
  return *found;
}

std::string text_of(const json& value, const std::string& name) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number() || value.is_boolean()) return value.dump();
  throw std::invalid_argument(
      fmt::format("{}: expected a text or a number, got {}", name, detail::show(value)));
}

// ---- prompts and answers ---------------------------------------------------------------------

asked_prompt prompt_of_row(const row_view& row, const data_fields& fields) {
  asked_prompt made;
  const auto& name = fields.prompt;
  const bool is_template = name.find('{') != name.npos;
  const json* const value = is_template ? nullptr : &field_of(row.object, name);
  made.is_text = !value || !value->is_array();
  if (made.is_text) {
    made.messages = {{"user", value ? text_of(*value, name) : filled(name, row.object)}};
  } else {
    made.messages = messages_of(in_order(row)[name], name).messages;
    const auto last = made.messages.empty() ? "none" : made.messages.back().role;
    if (last != "user" && last != "tool")
      throw std::invalid_argument(
          fmt::format("{}: expected a last message of the role user or tool, got {}", name, last));
  }
  const auto& [role, content, others] = made.messages.back();
  if (role == "user" && content.find_first_not_of(" \t\r\n") == std::string::npos)
    throw std::invalid_argument(fmt::format("{}: expected a text, got an empty one", name));
  made.tools = tools_of(row);
  return made;
}

std::string answer_of_row(const row_view& row, const data_fields& fields) {
  const auto name = answer_field(row.object, fields);
  const bool is_there = has_value(row.object, name);
  if (!is_there) {
    if (fields.needs_answer) refuse_missing(row.object, name);
    return {};
  }
  const auto& value = row.object.at(name);
  std::string text;
  if (are_messages(value)) {
    const auto said = messages_of(in_order(row)[name], name).messages;
    const bool is_one =
        said.size() == 1 && said.front().role == "assistant" && said.front().fields.empty();
    if (is_one) text = said.front().content;
    if (!is_one && fields.needs_answer)
      throw std::invalid_argument(fmt::format(
          "{}: expected a text, a number, or one message of the assistant with nothing but text, "
          "got {}",
          name, detail::show(value)));
  } else if (fields.needs_answer || !value.is_structured()) {
    text = text_of(value, name);
  }
  if (fields.needs_answer && text.empty())
    throw std::invalid_argument(name + ": expected an answer, got an empty text");
  return text;
}

// ---- rows of supervised fine-tuning ----------------------------------------------------------

namespace {

/// A conversation each of whose answers is learned.
data_row conversation_row(const row_view& row, const std::string& name) {
  auto [messages, learned] = messages_of(in_order(row)[name], name);
  data_row made{.messages = std::move(messages)};
  for (std::size_t i = 0; i < made.messages.size(); ++i) {
    if (made.messages[i].role != "assistant" || !learned[i].value_or(true)) continue;
    if (i == 0)
      throw std::invalid_argument(fmt::format(
          "{}: expected something to answer, got an answer as the first message", name));
    made.learned.push_back(i);
  }
  if (made.learned.empty())
    throw std::invalid_argument(
        fmt::format("{}: expected an answer of the assistant that is learned, got none", name));
  made.asked = made.learned.back();
  made.tools = tools_of(row);
  return made;
}

/// A prompt with the answer that is learned.
data_row prompt_with_answer(const row_view& row, const data_fields& fields) {
  auto asked = prompt_of_row(row, fields);
  const auto name = answer_field(row.object, fields);
  const auto& answer = field_of(row.object, name);
  data_row made{.messages = std::move(asked.messages),
                .asked = 0,
                .learned = {},
                .is_text = asked.is_text && !are_messages(answer),
                .tools = std::move(asked.tools)};
  made.asked = made.messages.size();
  if (!are_messages(answer)) {
    made.learned = {made.asked};
    made.messages.push_back({"assistant", text_of(answer, name)});
    return made;
  }
  const auto [messages, learned] = messages_of(in_order(row)[name], name);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (messages[i].role == "assistant" && learned[i].value_or(true))
      made.learned.push_back(made.messages.size());
    made.messages.push_back(messages[i]);
  }
  if (made.learned.empty())
    throw std::invalid_argument(
        fmt::format("{}: expected an answer of the assistant that is learned, got none", name));
  return made;
}

data_row document_of(const json& row, const std::string& name) {
  const auto& value = field_of(row, name);
  if (!value.is_string())
    throw std::invalid_argument(
        fmt::format("{}: expected a text, got {}", name, detail::show(value)));
  data_row made{.text = value.get<std::string>()};
  if (made.text.find_first_not_of(" \t\r\n") == std::string::npos)
    throw std::invalid_argument(fmt::format("{}: expected a text, got an empty one", name));
  return made;
}

/// The field of a conversation that has its answers, or "" if the row has a prompt and an answer.
std::string conversation_field(const json& row, const data_fields& fields) {
  const bool has_answer = has_value(row, answer_field(row, fields));
  if (has_value(row, "messages") && !(fields.prompt == "messages" && has_answer)) return "messages";
  const auto found = row.find(fields.prompt);
  if (has_answer || found == row.end() || !are_messages(*found)) return {};
  const auto& last = found->back();
  return last.is_object() && last.value("role", json()) == "assistant" ? fields.prompt
                                                                       : std::string();
}

/// The key of the prompt that a row has beside its messages, by which GRPO knows the row; "" if it
/// has none that GRPO could ask.
std::string key_beside_messages(const row_view& row, const data_fields& fields) {
  try {
    const auto asked = prompt_of_row(row, fields);
    return prompt_key(asked.messages, asked.tools);
  } catch (const std::invalid_argument&) {
    return {};
  }
}

}  // namespace

data_row read_row(const row_view& row, const data_fields& fields) {
  if (!fields.text.empty()) return document_of(row.object, fields.text);
  if (const auto name = conversation_field(row.object, fields); !name.empty()) {
    auto made = conversation_row(row, name);
    if (name != fields.prompt) made.own_key = key_beside_messages(row, fields);
    return made;
  }
  const bool has_prompt =
      fields.prompt.find('{') != std::string::npos || has_value(row.object, fields.prompt);
  if (!has_prompt && has_value(row.object, "text")) return document_of(row.object, "text");
  return prompt_with_answer(row, fields);
}

std::string data_row::key() const {
  if (!own_key.empty()) return own_key;
  if (messages.empty()) return ordered_json{{"text", text}}.dump();
  return prompt_key({messages.data(), asked}, tools);
}

// ---- chat templates --------------------------------------------------------------------------

namespace {

bool has_calls(const chat_message& message) {
  return !message.fields.empty() && json::parse(message.fields).contains("tool_calls");
}

}  // namespace

void require_written(const tokenizer& tokens, chat_style style,
                     const std::vector<chat_message>& messages, const chat_options& options) {
  const bool calls = std::ranges::any_of(messages, has_calls);
  if (options.tools.empty() && !calls) return;
  const auto written = encode_chat(tokens, style, messages, options);
  const auto refuse_if_left_out = [&](const std::vector<chat_message>& said,
                                      const chat_options& with, const char* what) {
    std::vector<token_id> without;
    try {
      without = encode_chat(tokens, style, said, with);
    } catch (const std::invalid_argument&) {
      return;  // the template needs them
    }
    if (without == written)
      throw std::invalid_argument(fmt::format(
          "{}: expected a model whose chat template writes them, got one whose template "
          "leaves them out",
          what));
  };
  if (!options.tools.empty()) {
    auto with = options;
    with.tools.clear();
    refuse_if_left_out(messages, with, "tools");
  }
  for (std::size_t i = 0; calls && i < messages.size(); ++i) {
    if (!has_calls(messages[i])) continue;
    auto said = messages;
    said[i].fields.clear();
    refuse_if_left_out(said, options, "tool_calls");
  }
}

// ---- division --------------------------------------------------------------------------------

std::string prompt_key(std::span<const chat_message> messages, const std::string& tools) {
  auto said = ordered_json::array();
  for (const auto& [role, content, fields] : messages) said.push_back({role, content, fields});
  const ordered_json key{{"tools", tools}, {"messages", std::move(said)}};
  return key.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::int64_t usual_held_out(std::int64_t prompts) {
  return prompts < 4 ? 0 : std::clamp<std::int64_t>(prompts / 10, 2, 200);
}

std::vector<std::vector<std::size_t>> rows_by_prompt(std::span<const std::string> keys) {
  std::map<std::string_view, std::size_t> known;
  std::vector<std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto [at, is_new] = known.try_emplace(keys[i], places.size());
    if (is_new) places.emplace_back();
    places[at->second].push_back(i);
  }
  return places;
}

std::vector<std::size_t> draw_held_out(std::size_t prompts, std::int64_t held_out,
                                       std::uint64_t seed) {
  std::vector<std::size_t> drawn;
  if (held_out == 0) return drawn;
  troupe::detail::shuffled_order order(prompts, true, derived_seed(seed, "held out"));
  for (std::int64_t i = 0; i < held_out; ++i) drawn.push_back(order.next());
  return drawn;
}

}  // namespace troupe::llm
