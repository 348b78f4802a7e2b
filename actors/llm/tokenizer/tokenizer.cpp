#include "actors/llm/tokenizer/tokenizer.hpp"

#include <algorithm>
#include <stdexcept>

#include "actors/llm/tokenizer/byte_alphabet.hpp"
#include "actors/llm/tokenizer/nfc.hpp"

namespace troupe::llm {
tokenizer::tokenizer(tokenizer_parts parts)
    : bpe_(parts.tokens, parts.merges, parts.ignore_merges),
      pre_tokenizer_(parts.style),
      nfc_(parts.nfc),
      before_(std::move(parts.before)),
      after_(std::move(parts.after)) {
  for (const auto& letters : parts.tokens) {
    // A token that isn't in the byte alphabet is the text of an added token.
    bytes_.push_back(bytes_of_letters(letters).value_or(letters));
  }
  for (auto& token : parts.added) {
    if (token.id < 0 || token.text.empty())
      throw std::invalid_argument("expected added tokens with an id and a text, got id " +
                                  std::to_string(token.id));
    const auto at = static_cast<std::size_t>(token.id);
    if (at >= bytes_.size()) bytes_.resize(at + 1);
    if (special_.size() < bytes_.size()) special_.resize(bytes_.size());
    bytes_[at] = token.text;
    special_[at] = token.special;
    auto& list = (token.normalized ? normalized_ : raw_)[token.text[0]];
    list.push_back({std::move(token.text), token.id, token.special});
  }
  special_.resize(bytes_.size());
  for (auto* all : {&raw_, &normalized_}) {
    for (auto& [first, list] : *all) {
      std::stable_sort(list.begin(), list.end(), [](const entry& a, const entry& b) {
        return a.text.size() > b.text.size();
      });
    }
  }
}

// Splits the text at the leftmost added token, and at the longest if several begin there.
template <class Between>
void tokenizer::split_at_added(const entries& added, std::string_view text, bool parse_special,
                               std::vector<token_id>& ids, Between between) const {
  const auto found_at = [&](std::size_t i) -> const entry* {
    const auto list = added.find(text[i]);
    if (list == added.end()) return nullptr;
    for (const auto& token : list->second) {
      if ((parse_special || !token.special) && text.substr(i).starts_with(token.text))
        return &token;
    }
    return nullptr;
  };
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size();) {
    const auto* token = added.empty() ? nullptr : found_at(i);
    if (!token) {
      ++i;
      continue;
    }
    if (i > begin) between(text.substr(begin, i - begin));
    ids.push_back(token->id);
    begin = i += token->text.size();
  }
  if (begin < text.size()) between(text.substr(begin));
}

std::vector<token_id> tokenizer::encode(std::string_view text,
                                        const encode_options& options) const {
  if (const auto good = utf8_bytes(text); good < text.size())
    throw std::invalid_argument("encode: expected a text in UTF-8, got something else at byte " +
                                std::to_string(good));
  std::vector<token_id> ids;
  if (options.add_special) ids = before_;
  const auto encode_plain = [&](std::string_view plain) {
    for (const auto piece : pre_tokenizer_.split(plain)) bpe_.encode(piece, ids);
  };
  const auto encode_raw = [&](std::string_view raw) {
    if (!nfc_) return split_at_added(normalized_, raw, options.parse_special, ids, encode_plain);
    split_at_added(normalized_, to_nfc(raw), options.parse_special, ids, encode_plain);
  };
  split_at_added(raw_, text, options.parse_special, ids, encode_raw);
  if (options.add_special) ids.insert(ids.end(), after_.begin(), after_.end());
  return ids;
}

std::string_view tokenizer::bytes_of(token_id id) const {
  return id >= 0 && id < size() ? std::string_view(bytes_[std::size_t(id)]) : std::string_view();
}

std::string tokenizer::decode(std::span<const token_id> ids, bool skip_special) const {
  utf8_stream stream;
  std::string text;
  for (const auto id : ids) {
    if (!skip_special || !is_special(id)) text += stream.add(bytes_of(id));
  }
  return text + stream.end();
}

std::optional<token_id> tokenizer::find(std::string_view text) const {
  for (const auto* all : {&raw_, &normalized_}) {
    const auto list = text.empty() ? all->end() : all->find(text[0]);
    if (list == all->end()) continue;
    for (const auto& token : list->second) {
      if (token.text == text) return token.id;
    }
  }
  return std::nullopt;
}

std::optional<token_id> tokenizer::added_at(std::string_view text, bool special_only) const {
  const entry* longest = nullptr;
  for (const auto* all : {&raw_, &normalized_}) {
    const auto list = text.empty() ? all->end() : all->find(text[0]);
    if (list == all->end()) continue;
    for (const auto& token : list->second) {
      if ((special_only && !token.special) || !text.starts_with(token.text)) continue;
      if (!longest || token.text.size() > longest->text.size()) longest = &token;
    }
  }
  return longest ? std::optional(longest->id) : std::nullopt;
}

bool tokenizer::is_special(token_id id) const {
  return id >= 0 && id < size() && special_[std::size_t(id)];
}

}  // namespace troupe::llm
