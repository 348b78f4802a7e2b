#include "actors/llm/tokenizer/write_tokenizer.hpp"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "actors/checkpoint/durable_file.hpp"
#include "actors/llm/tokenizer/tokenizer_json.hpp"
#include "runtime/base/told_once.hpp"
#include "runtime/base/utf8.hpp"

namespace troupe::llm {

namespace {

/// True for a name that is the name of a file everywhere, and of none elsewhere.
bool is_file_name(std::string_view name) {
  const auto belongs = [](unsigned char c) {
    return c < 0x80 && (std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.');
  };
  constexpr std::size_t bytes_max = 128;
  return !name.empty() && name.size() <= bytes_max && name.front() != '.' &&
         std::ranges::all_of(name, belongs);
}

void write_text(const std::filesystem::path& path, std::string_view text) {
  replace_durably(path, {&text, 1});
}

void write_templates(const std::filesystem::path& folder, const named_templates& templates) {
  const auto others = folder / "additional_chat_templates";
  for (const auto& [name, text] : templates) {
    if (name == "default") {
      write_text(folder / "chat_template.jinja", text);
    } else if (is_file_name(name)) {
      create_folders_durably(others);
      write_text(others / (name + ".jinja"), text);
    } else {
      log::warn_once("a chat template is not written, as its name is no name of a file",
                     {{"model", folder.string()}, {"name", detail::printable(name, 60)}});
    }
  }
}

}  // namespace

void write_tokenizer(const std::filesystem::path& folder, const tokenizer_parts& parts,
                     const std::string& end, const named_templates& templates,
                     const named_tokens& special_tokens) {
  nlohmann::json config{{"tokenizer_class", "PreTrainedTokenizerFast"},
                        {"clean_up_tokenization_spaces", false}};
  for (const auto& [name, text] : special_tokens) config[name] = text;
  // A template that writes eos_token gets what it got before, which may not be what ends an answer.
  const bool writes_end = std::ranges::any_of(templates, [](const auto& each) {
    return each.second.find("eos_token") != std::string::npos;
  });
  if (!special_tokens.contains("eos_token") || !writes_end) config["eos_token"] = end;
  write_text(folder / "tokenizer.json", json_of_parts(parts).dump(1));
  // Templates are only in files of their own, since a copy in tokenizer_config.json could differ.
  write_text(folder / "tokenizer_config.json", config.dump(2) + '\n');
  write_templates(folder, templates);
}

}  // namespace troupe::llm
