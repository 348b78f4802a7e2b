#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace troupe::llm {

using token_id = std::int32_t;

/// Byte pair encoding (Sennrich et al. 2016, arXiv:1508.07909) of one piece of text: its bytes, and
/// then of all neighbours that are a merge those of the lowest rank, the leftmost first, until none
/// is left.
class bpe {
 public:
  /// `tokens` by id, each in the byte alphabet; an empty one is a hole. `merges` by rank. Throws
  /// std::invalid_argument for a token twice and for a merge whose parts or whole aren't tokens.
  bpe(const std::vector<std::string>& tokens,
      const std::vector<std::pair<std::string, std::string>>& merges, bool ignore_merges);

  /// Appends the piece's ids. Bytes that the vocabulary lacks are left out, as the tokenizers
  /// library does (SmolLM2's lacks a few control characters). Time n log n.
  void encode(std::string_view piece, std::vector<token_id>& ids) const;

 private:
  struct merge {
    std::int32_t rank;
    token_id whole;
  };
  const merge* find(token_id left, token_id right) const;

  std::array<token_id, 256> byte_ids_{};             // -1 for none
  std::unordered_map<std::uint64_t, merge> merges_;  // by left << 32 | right
  std::unordered_map<std::string, token_id> whole_;  // by bytes; where merges are ignored
};

}  // namespace troupe::llm
