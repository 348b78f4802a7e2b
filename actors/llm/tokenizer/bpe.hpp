#pragma once
// Byte pair encoding, the core of the tokenizer.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace troupe::llm {

using token_id = std::int32_t;

/// Byte pair encoding (Sennrich et al. 2016, arXiv:1508.07909) of one piece of text. It begins with
/// the bytes. Among all neighbours that form a merge it joins those of the lowest rank, the
/// leftmost first, until no merge is left.
class bpe {
 public:
  /// `tokens` has each token by its id, in the byte alphabet; an empty one is an unused id.
  /// `merges` is in the order of ranks. With ignore_merges a piece that is a token becomes that
  /// token. Throws std::invalid_argument for a token that occurs twice and for a merge whose parts
  /// or result are no tokens.
  bpe(const std::vector<std::string>& tokens,
      const std::vector<std::pair<std::string, std::string>>& merges, bool ignore_merges);

  /// Appends the ids of a piece. Bytes that the vocabulary lacks are left out, as in the tokenizers
  /// library (SmolLM2's vocabulary lacks a few control characters). It takes O(n log n) time.
  void encode(std::string_view piece, std::vector<token_id>& ids) const;

 private:
  struct merge {
    std::int32_t rank;
    token_id whole;
  };
  const merge* find(token_id left, token_id right) const;

  std::array<token_id, 256> byte_ids_{};             // -1 for none
  std::unordered_map<std::uint64_t, merge> merges_;  // by left << 32 | right
  std::unordered_map<std::string, token_id> whole_;  // by bytes; only with ignore_merges
};

}  // namespace troupe::llm
