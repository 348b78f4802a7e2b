#include "actors/llm/tokenizer/write_tokenizer.hpp"

#include <nlohmann/json.hpp>

#include "actors/checkpoint/durable_file.hpp"
#include "actors/llm/tokenizer/tokenizer_json.hpp"

namespace troupe::llm {

void write_tokenizer(const std::filesystem::path& folder, const tokenizer_parts& parts,
                     const std::string& end, const std::string& chat_template,
                     const std::map<std::string, std::string, std::less<>>& named) {
  const auto write = [&](const char* name, std::string_view text) {
    replace_durably(folder / name, {&text, 1});
  };
  nlohmann::json config{{"tokenizer_class", "PreTrainedTokenizerFast"},
                        {"eos_token", end},
                        {"clean_up_tokenization_spaces", false}};
  for (const auto& [name, text] : named) config.emplace(name, text);
  // A template that writes eos_token gets what it got before, which may not be what ends an answer.
  if (named.contains("eos_token") && chat_template.find("eos_token") != chat_template.npos)
    config["eos_token"] = named.at("eos_token");
  write("tokenizer.json", json_of_parts(parts).dump(1));
  // The template is only in its own file, since a copy in tokenizer_config.json could differ.
  write("tokenizer_config.json", config.dump(2) + '\n');
  if (!chat_template.empty()) write("chat_template.jinja", chat_template);
}

}  // namespace troupe::llm
