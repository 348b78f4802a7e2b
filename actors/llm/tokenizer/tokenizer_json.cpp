#include "actors/llm/tokenizer/tokenizer_json.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "actors/llm/files/llm_file_error.hpp"
#include "runtime/base/utf8.hpp"

namespace troupe::llm {
namespace {

using nlohmann::json;

constexpr std::int64_t id_end = 1 << 24;

constexpr std::string_view qwen2_pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view llama3_pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

std::string show(const json& value) { return detail::printable(value.dump(-1, ' ', true), 160); }

/// A value of the document with its path.
class node {
 public:
  node(const json& value, std::string place) : value_(value), place_(std::move(place)) {}

  const json& value() const { return value_; }
  bool is_null() const { return value_.is_null(); }
  llm_file_error error(const std::string& expected) const {
    return llm_file_error(place_ + ": expected " + expected + ", got " + show(value_));
  }

  bool has(const char* key) const { return value_.is_object() && value_.contains(key); }
  /// The member with this key, or null if there is none.
  node at(const char* key) const {
    static const json null;
    if (!value_.is_object()) throw error("an object");
    return {has(key) ? value_[key] : null, place_ + '/' + key};
  }
  std::vector<node> elements() const {
    if (!value_.is_array()) throw error("an array");
    std::vector<node> all;
    for (const auto& element : value_) {
      all.emplace_back(element, place_ + '/' + std::to_string(all.size()));
    }
    return all;
  }
  std::string text() const {
    if (!value_.is_string()) throw error("a text");
    return value_.get<std::string>();
  }
  bool truth(bool otherwise) const {
    if (is_null()) return otherwise;
    if (!value_.is_boolean()) throw error("true or false");
    return value_.get<bool>();
  }
  token_id id() const {
    if (!value_.is_number_unsigned() || value_.get<std::uint64_t>() >= std::uint64_t(id_end))
      throw error("an id from 0 to " + std::to_string(id_end - 1));
    return value_.get<token_id>();
  }
  std::string type() const { return at("type").text(); }

  /// Refuses a field that would change what the tokenizer does, unless it has a harmless value.
  void must_be(const char* key, std::initializer_list<json> harmless) const {
    const auto field = at(key);
    if (field.is_null()) return;
    if (std::find(harmless.begin(), harmless.end(), field.value()) == harmless.end())
      throw field.error(show(*harmless.begin()) + ": nothing else is known here");
  }
  /// Refuses all other fields, since an unknown field could change the ids.
  void only(std::initializer_list<const char*> keys) const {
    for (const auto& [key, field] : value_.items()) {
      if (std::none_of(keys.begin(), keys.end(), [&](const char* known) { return key == known; }))
        throw node(field, place_ + '/' + detail::printable(key, 60)).error("no such field");
    }
  }

 private:
  const json& value_;
  std::string place_;
};

// The members of a Sequence, or the step itself if it is none.
std::vector<node> members(const node& step, const char* list) {
  if (step.type() == "Sequence") return step.at(list).elements();
  return {step};
}

void read_vocabulary(const node& model, tokenizer_parts& parts) {
  const auto vocabulary = model.at("vocab");
  if (!vocabulary.value().is_object()) throw vocabulary.error("an object of tokens and ids");
  for (const auto& [token, value] : vocabulary.value().items()) {
    const node entry = vocabulary.at(token.c_str());
    const auto id = static_cast<std::size_t>(entry.id());
    if (token.empty()) throw entry.error("a token of one letter or more");
    if (id >= parts.tokens.size()) parts.tokens.resize(id + 1);
    if (!parts.tokens[id].empty())
      throw entry.error("an id of its own, as \"" + detail::printable(parts.tokens[id], 60) +
                        "\" has it");
    parts.tokens[id] = token;
  }
}

// Reads a merge, which is "left right" or ["left", "right"].
std::pair<std::string, std::string> read_merge(const node& merge) {
  if (merge.value().is_string()) {
    const auto text = merge.text();
    const auto space = text.find(' ');
    if (space == text.npos || text.find(' ', space + 1) != text.npos)
      throw merge.error("two tokens with a space between them");
    return {text.substr(0, space), text.substr(space + 1)};
  }
  const auto both = merge.elements();
  if (both.size() != 2) throw merge.error("two tokens");
  return {both[0].text(), both[1].text()};
}

void read_model(const node& model, tokenizer_parts& parts) {
  model.only({"type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix",
              "fuse_unk", "byte_fallback", "ignore_merges", "vocab", "merges"});
  if (!model.at("type").is_null() && model.type() != "BPE") throw model.at("type").error("\"BPE\"");
  model.must_be("dropout", {nullptr, 0.0});
  model.must_be("unk_token", {nullptr});
  model.must_be("continuing_subword_prefix", {""});
  model.must_be("end_of_word_suffix", {""});
  model.must_be("fuse_unk", {false});
  model.must_be("byte_fallback", {false});
  parts.ignore_merges = model.at("ignore_merges").truth(false);
  read_vocabulary(model, parts);
  for (const auto& merge : model.at("merges").elements()) parts.merges.push_back(read_merge(merge));
}

void read_normalizer(const node& normalizer, tokenizer_parts& parts) {
  if (normalizer.is_null()) return;
  for (const auto& step : members(normalizer, "normalizers")) {
    if (step.type() != "NFC") throw step.error("the normalizer NFC");
    parts.nfc = true;
  }
}

void read_pre_tokenizer(const node& pre_tokenizer, tokenizer_parts& parts) {
  bool digits = false, bytes = false, words = false;
  std::optional<split_style> style;
  for (const auto& step : members(pre_tokenizer, "pretokenizers")) {
    const auto type = step.type();
    if (bytes) throw step.error("nothing after ByteLevel");
    if (type == "Digits" && !style && !digits) {
      if (!step.at("individual_digits").truth(false)) throw step.error("individual_digits");
      digits = true;
    } else if (type == "Split" && !style && !digits) {
      const auto pattern = step.at("pattern").at("Regex");
      const auto text = pattern.text();
      if (text == qwen2_pattern)
        style = split_style::qwen2;
      else if (text == llama3_pattern)
        style = split_style::llama3;
      else
        throw pattern.error("the pattern of Qwen2 or that of Llama 3");
      step.must_be("behavior", {"Isolated"});
      step.must_be("invert", {false});
    } else if (type == "ByteLevel") {
      step.must_be("add_prefix_space", {false});
      bytes = true;
      words = step.at("use_regex").truth(true);
    } else {
      throw step.error("Split or Digits and then ByteLevel");
    }
  }
  if (!bytes || words == style.has_value())
    throw pre_tokenizer.error("ByteLevel, with a pattern of its own or after a Split");
  parts.style = style ? *style : digits ? split_style::smollm : split_style::gpt2;
}

void read_added(const node& added, tokenizer_parts& parts) {
  if (added.is_null()) return;
  std::set<token_id> seen;
  for (const auto& token : added.elements()) {
    token.only({"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"});
    token.must_be("single_word", {false});
    token.must_be("lstrip", {false});
    token.must_be("rstrip", {false});
    added_token one{.id = token.at("id").id(),
                    .text = token.at("content").text(),
                    .special = token.at("special").truth(false),
                    .normalized = token.at("normalized").truth(false)};
    const auto at = static_cast<std::size_t>(one.id);
    const bool taken =
        at < parts.tokens.size() && !parts.tokens[at].empty() && parts.tokens[at] != one.text;
    if (one.text.empty() || taken || !seen.insert(one.id).second)
      throw token.error("a text, and an id that no other token has");
    parts.added.push_back(std::move(one));
  }
}

void read_template(const node& step, tokenizer_parts& parts) {
  const auto special = step.at("special_tokens");
  bool text_came = false;
  for (const auto& piece : step.at("single").elements()) {
    if (piece.has("Sequence")) {
      if (text_came || piece.at("Sequence").at("id").text() != "A")
        throw piece.error("the text, A, once");
      text_came = true;
      continue;
    }
    const auto name = piece.at("SpecialToken").at("id").text();
    for (const auto& id : special.at(name.c_str()).at("ids").elements()) {
      (text_came ? parts.after : parts.before).push_back(id.id());
    }
  }
  if (!text_came) throw step.error("a template with the text, A, in it");
}

void read_post_processor(const node& post_processor, tokenizer_parts& parts) {
  if (post_processor.is_null()) return;
  for (const auto& step : members(post_processor, "processors")) {
    const auto type = step.type();
    if (type == "TemplateProcessing")
      read_template(step, parts);
    else if (type != "ByteLevel")  // it only changes offsets, which aren't used
      throw step.error("ByteLevel or TemplateProcessing");
  }
}

}  // namespace

tokenizer_parts parts_of_json(const json& document, const std::string& place) {
  const node root(document, place + ": ");
  tokenizer_parts parts;
  read_model(root.at("model"), parts);
  read_normalizer(root.at("normalizer"), parts);
  read_pre_tokenizer(root.at("pre_tokenizer"), parts);
  read_added(root.at("added_tokens"), parts);
  read_post_processor(root.at("post_processor"), parts);
  const auto decoder = root.at("decoder");
  if (!decoder.has("type") || decoder.type() != "ByteLevel") throw decoder.error("ByteLevel");
  return parts;
}

namespace {

json byte_level(bool use_regex) {
  return {{"type", "ByteLevel"},
          {"add_prefix_space", false},
          {"trim_offsets", true},
          {"use_regex", use_regex}};
}

json pre_tokenizer_of(split_style style) {
  json first;
  switch (style) {
    case split_style::gpt2:
      return byte_level(true);
    case split_style::smollm:
      first = {{"type", "Digits"}, {"individual_digits", true}};
      break;
    case split_style::qwen2:
    case split_style::llama3:
      first = {
          {"type", "Split"},
          {"pattern", {{"Regex", style == split_style::qwen2 ? qwen2_pattern : llama3_pattern}}},
          {"behavior", "Isolated"},
          {"invert", false}};
      break;
  }
  return {{"type", "Sequence"},
          {"pretokenizers", {first, byte_level(style == split_style::smollm)}}};
}

/// The post-processor that adds the tokens around a text.
json post_processor_of(const tokenizer_parts& parts) {
  if (parts.before.empty() && parts.after.empty()) return byte_level(true);
  json single = json::array(), special = json::object();
  const auto add = [&](token_id id) {
    const auto added = std::ranges::find(parts.added, id, &added_token::id);
    const auto text =
        added != parts.added.end() ? added->text : parts.tokens.at(static_cast<std::size_t>(id));
    single.push_back({{"SpecialToken", {{"id", text}, {"type_id", 0}}}});
    special[text] = {{"id", text}, {"ids", {id}}, {"tokens", {text}}};
  };
  for (const auto id : parts.before) add(id);
  single.push_back({{"Sequence", {{"id", "A"}, {"type_id", 0}}}});
  for (const auto id : parts.after) add(id);
  return {{"type", "TemplateProcessing"},
          {"single", single},
          {"pair",
           {{{"Sequence", {{"id", "A"}, {"type_id", 0}}}},
            {{"Sequence", {{"id", "B"}, {"type_id", 1}}}}}},
          {"special_tokens", special}};
}

}  // namespace

json json_of_parts(const tokenizer_parts& parts) {
  json vocabulary = json::object(), merges = json::array(), added = json::array();
  for (std::size_t id = 0; id < parts.tokens.size(); ++id) {
    if (!parts.tokens[id].empty()) vocabulary[parts.tokens[id]] = id;
  }
  // Added tokens must be in the vocabulary, too, or the tokenizers library gives them new ids.
  for (const auto& token : parts.added) vocabulary[token.text] = token.id;
  for (const auto& [left, right] : parts.merges) merges.push_back(left + ' ' + right);
  for (const auto& token : parts.added) {
    added.push_back({{"id", token.id},
                     {"content", token.text},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", token.normalized},
                     {"special", token.special}});
  }
  return {{"version", "1.0"},
          {"truncation", nullptr},
          {"padding", nullptr},
          {"added_tokens", added},
          {"normalizer", parts.nfc ? json{{"type", "NFC"}} : json()},
          {"pre_tokenizer", pre_tokenizer_of(parts.style)},
          {"post_processor", post_processor_of(parts)},
          {"decoder", byte_level(true)},
          {"model",
           {{"type", "BPE"},
            {"dropout", nullptr},
            {"unk_token", nullptr},
            {"continuing_subword_prefix", nullptr},
            {"end_of_word_suffix", nullptr},
            {"fuse_unk", false},
            {"byte_fallback", false},
            {"ignore_merges", parts.ignore_merges},
            {"vocab", vocabulary},
            {"merges", merges}}}};
}

}  // namespace troupe::llm
