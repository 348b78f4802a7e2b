#include "actors/llm/tokenizer/read_tokenizer.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "actors/llm/files/gguf.hpp"
#include "actors/llm/files/json_file.hpp"
#include "actors/llm/tokenizer/tokenizer_json.hpp"
#include "runtime/base/told_once.hpp"
#include "runtime/base/utf8.hpp"

namespace troupe::llm {
namespace {

namespace fs = std::filesystem;

/// Files of before May 2024 don't name the way in which texts are split. The special tokens of a
/// family say which it is: another family would not have them. Empty means that they don't.
std::string_view split_by_tokens(const gguf_file& file) {
  const auto& tokens = file.get<std::vector<std::string_view>>("tokenizer.ggml.tokens");
  const auto has = [&](std::string_view text) {
    return std::ranges::find(tokens, text) != tokens.end();
  };
  const auto* architecture = file.find<std::string_view>("general.architecture");
  const bool is_qwen = architecture && architecture->starts_with("qwen");
  if (has("<|begin_of_text|>") && has("<|eot_id|>")) return "llama-bpe";
  if (is_qwen && has("<|im_start|>") && has("<|endoftext|>")) return "qwen2";
  if (has("<jupyter_start>") && has("<repo_name>") && has("<|im_start|>")) return "smollm";
  return "";
}

// A GGUF file has only the name of the way in which texts are split.
split_style style_of(const gguf_file& file) {
  constexpr std::string_view key = "tokenizer.ggml.pre";
  static const std::map<std::string_view, split_style> known{
      {"gpt-2", split_style::gpt2},       {"smollm", split_style::smollm},
      {"qwen2", split_style::qwen2},      {"deepseek-r1-qwen", split_style::qwen2},
      {"llama-bpe", split_style::llama3}, {"llama3", split_style::llama3},
      {"llama-v3", split_style::llama3}};
  const auto* told = file.find<std::string_view>(key);
  auto name = told ? *told : "default";
  if (name == "default") {  // llama.cpp's name for files that have none
    name = split_by_tokens(file);
    if (name.empty())
      throw file.error(key,
                       "expected it in the metadata, since nothing else in the file says how "
                       "texts are split: convert the model again");
    log::warn_once(
        "the file does not say how texts are split; its special tokens are those of a family",
        {{"file", file.path().string()}, {"key", key}, {"split", name}});
  }
  const auto at = known.find(name);
  if (at == known.end())
    throw file.error(key, "expected gpt-2, smollm, qwen2, deepseek-r1-qwen or llama-bpe, got \"" +
                              detail::printable(name, 60) + '"');
  return at->second;
}

enum token_kind { normal = 1, unknown, control, user_defined, unused, byte };

tokenizer_parts parts_of_gguf(const gguf_file& file) {
  if (const auto kind = file.get<std::string_view>("tokenizer.ggml.model"); kind != "gpt2") {
    const bool is_sentencepiece = kind == "llama";
    throw file.error("tokenizer.ggml.model",
                     "expected \"gpt2\", byte-level BPE, got \"" + detail::printable(kind, 60) +
                         (is_sentencepiece ? "\", SentencePiece, which is not read" : "\""));
  }
  tokenizer_parts parts;
  parts.style = style_of(file);
  parts.nfc = parts.style == split_style::qwen2;
  parts.ignore_merges = parts.style == split_style::llama3;

  const auto& tokens = file.get<std::vector<std::string_view>>("tokenizer.ggml.tokens");
  const auto& kinds = file.get<std::vector<std::int64_t>>("tokenizer.ggml.token_type");
  if (kinds.size() != tokens.size())
    throw file.error("tokenizer.ggml.token_type",
                     "expected a type for each of " + std::to_string(tokens.size()) +
                         " tokens, got " + std::to_string(kinds.size()));
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    parts.tokens.emplace_back(kinds[i] == normal ? tokens[i] : std::string_view());
    if ((kinds[i] != control && kinds[i] != user_defined) || tokens[i].empty()) continue;
    parts.added.push_back({.id = static_cast<token_id>(i),
                           .text = std::string(tokens[i]),
                           .special = kinds[i] == control});
  }

  constexpr std::string_view merges_key = "tokenizer.ggml.merges";
  for (const auto merge : file.get<std::vector<std::string_view>>(merges_key)) {
    const auto space = merge.find(' ');
    if (space == merge.npos)
      throw file.error(merges_key, "expected two tokens with a space between them, got \"" +
                                       detail::printable(merge, 60) + '"');
    parts.merges.emplace_back(merge.substr(0, space), merge.substr(space + 1));
  }

  const auto* asked = file.find<bool>("tokenizer.ggml.add_bos_token");
  if (asked ? *asked : parts.style == split_style::llama3) {
    const auto bos = file.get<std::int64_t>("tokenizer.ggml.bos_token_id");
    if (bos < 0 || static_cast<std::size_t>(bos) >= tokens.size())
      throw file.error("tokenizer.ggml.bos_token_id",
                       "expected a token's id, got " + std::to_string(bos));
    parts.before.push_back(static_cast<token_id>(bos));
  }
  return parts;
}

}  // namespace

tokenizer_parts read_tokenizer_parts(const fs::path& path) {
  if (fs::is_directory(path)) return read_tokenizer_parts(path / "tokenizer.json");
  if (path.extension() == ".gguf") return parts_of_gguf(gguf_file(path));
  return parts_of_json(read_model_json(path), path.string());
}

tokenizer put_together(tokenizer_parts parts, const fs::path& path) {
  try {
    return tokenizer(std::move(parts));
  } catch (const std::invalid_argument& e) {
    throw llm_file_error(path.string() + ": " + e.what());
  }
}

tokenizer read_tokenizer(const fs::path& path) {
  return put_together(read_tokenizer_parts(path), path);
}

tokenizer read_tokenizer(const gguf_file& file) {
  return put_together(parts_of_gguf(file), file.path());
}

}  // namespace troupe::llm
