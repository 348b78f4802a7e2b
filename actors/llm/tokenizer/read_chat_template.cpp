#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "actors/llm/files/gguf.hpp"
#include "actors/llm/files/input_file.hpp"
#include "actors/llm/files/json_file.hpp"
#include "actors/llm/tokenizer/chat_template.hpp"
#include "runtime/base/utf8.hpp"

namespace troupe::llm {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view default_name = "default";

named_templates templates_of(const gguf_file& file) {
  constexpr std::string_view key = "tokenizer.chat_template";
  named_templates all;
  for (const auto& [name, held] : file.metadata()) {
    const auto* text = std::get_if<std::string_view>(&held);
    if (!text || !name.starts_with(key)) continue;
    if (name.size() == key.size()) all.emplace(default_name, *text);
    if (name.size() > key.size() + 1 && name[key.size()] == '.')
      all.emplace(name.substr(key.size() + 1), *text);
  }
  return all;
}

named_templates templates_in_files(const fs::path& folder) {
  const auto read = [](const fs::path& path) {
    return read_whole_file(path, model_json_bytes_max);
  };
  named_templates all;
  if (const auto own = folder / "chat_template.jinja"; fs::exists(own))
    all.emplace(default_name, read(own));
  if (const auto more = folder / "additional_chat_templates"; fs::is_directory(more)) {
    for (const auto& entry : fs::directory_iterator(more))
      if (entry.path().extension() == ".jinja")
        all.emplace(entry.path().stem().string(), read(entry.path()));
  }
  return all;
}

named_templates templates_in_config(const nlohmann::json& config, const std::string& place) {
  const auto held = config.find("chat_template");
  if (held == config.end() || held->is_null()) return {};
  if (held->is_string()) return {{std::string(default_name), held->get<std::string>()}};
  named_templates all;
  const auto is_text = [](const nlohmann::json& of, const char* key) {
    return of.is_object() && of.contains(key) && of[key].is_string();
  };
  const bool fits = held->is_array() && std::ranges::all_of(*held, [&](const auto& one) {
                      return is_text(one, "name") && is_text(one, "template");
                    });
  if (!fits)
    throw llm_file_error(place +
                         ": /chat_template: expected a text, or a list of objects with the texts "
                         "name and template");
  for (const auto& one : *held)
    all.insert_or_assign(one["name"].get<std::string>(), one["template"].get<std::string>());
  return all;
}

nlohmann::json object_in(const fs::path& path) {
  auto read = read_model_json(path);
  if (!read.is_object())
    throw llm_file_error(path.string() + ": expected an object, got " + read.type_name());
  return read;
}

named_templates templates_of(const fs::path& path) {
  if (path.extension() == ".gguf") return templates_of(gguf_file(path));
  // As in transformers, the files come before tokenizer_config.json.
  auto all = templates_in_files(path);
  const auto config = path / "tokenizer_config.json";
  if (all.empty() && fs::exists(config))
    all = templates_in_config(object_in(config), config.string());
  return all;
}

std::string chosen(const named_templates& all, const fs::path& path, const std::string& name) {
  const auto found = all.find(name.empty() ? default_name : std::string_view(name));
  if (found != all.end()) return found->second;
  if (all.empty())
    throw llm_file_error(path.string() +
                         ": expected a chat template in chat_template.jinja, in "
                         "tokenizer_config.json or in tokenizer.chat_template of a GGUF file, got "
                         "none: it is a base model");
  std::string names;
  for (const auto& [other, text] : all)
    names += (names.empty() ? "" : ", ") + detail::printable(other, 60);
  throw llm_file_error(path.string() + ": expected one of the chat templates " + names + ", got " +
                       detail::printable(name.empty() ? std::string(default_name) : name, 60));
}

named_tokens tokens_of(const gguf_file& file) {
  constexpr std::pair<std::string_view, std::string_view> keys[] = {
      {"bos_token", "tokenizer.ggml.bos_token_id"},
      {"eos_token", "tokenizer.ggml.eos_token_id"},
      {"unk_token", "tokenizer.ggml.unknown_token_id"},
      {"sep_token", "tokenizer.ggml.seperator_token_id"},
      {"pad_token", "tokenizer.ggml.padding_token_id"}};
  named_tokens named;
  const auto* all = file.find<std::vector<std::string_view>>("tokenizer.ggml.tokens");
  for (const auto& [name, key] : keys) {
    const auto* id = file.find<std::int64_t>(key);
    if (all && id && *id >= 0 && std::cmp_less(*id, all->size()))
      named.emplace(name, (*all)[static_cast<std::size_t>(*id)]);
  }
  return named;
}

/// Adds the tokens that a file names, as texts or as objects with a content.
void add_tokens(named_tokens& named, const fs::path& path) {
  if (!fs::exists(path)) return;
  const auto config = object_in(path);
  for (const auto* name : {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token",
                           "cls_token", "mask_token"}) {
    const auto held = config.find(name);
    if (held == config.end() || held->is_null()) continue;
    const auto& text = held->is_object() && held->contains("content") ? (*held)["content"] : *held;
    if (!text.is_string())
      throw llm_file_error(path.string() + ": /" + name +
                           ": expected a text or an object with a content, got " +
                           held->type_name());
    named.emplace(name, text.get<std::string>());
  }
}

}  // namespace

std::string read_chat_template(const fs::path& path, const std::string& name) {
  return chosen(templates_of(path), path, name);
}

std::optional<chat_style> find_chat_style(const fs::path& path, const std::string& name) {
  std::optional<gguf_file> file;  // its tokens and templates are read once
  if (path.extension() == ".gguf") file.emplace(path);
  auto all = file ? templates_of(*file) : templates_of(path);
  if (all.empty() && name.empty()) return std::nullopt;
  const auto source = chosen(all, path, name);
  if (!name.empty()) all.clear();
  return chat_style(source, path.string(), file ? tokens_of(*file) : read_named_tokens(path),
                    name.empty() ? std::string(default_name) : name, std::move(all));
}

chat_style read_chat_style(const fs::path& path, const std::string& name) {
  auto found = find_chat_style(path, name);
  if (!found) chosen({}, path, name);  // throws
  return *std::move(found);
}

named_tokens read_named_tokens(const fs::path& path) {
  if (path.extension() == ".gguf") return tokens_of(gguf_file(path));
  named_tokens named;
  add_tokens(named, path / "tokenizer_config.json");
  add_tokens(named, path / "special_tokens_map.json");
  return named;
}

}  // namespace troupe::llm
