#pragma once
// Keys and values of finished answers, so that the next turn of a conversation needs not compute
// them again.

#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "actors/llm/model/kv_sequence.hpp"
#include "actors/llm/tokenizer/bpe.hpp"

namespace troupe::llm {

/// Sequences by their tokens, those of the latest answers, within a bound of memory. All are of the
/// same weights: clear() it when these change.
class prefix_cache {
 public:
  /// `bytes_max` of 0 keeps nothing. Memory that sequences share counts for each of them.
  explicit prefix_cache(std::int64_t bytes_max) : bytes_max_(bytes_max) {}

  /// Keeps the sequence of these tokens. The oldest ones make room for it.
  void put(std::vector<token_id> tokens, kv_sequence sequence);
  /// Removes and returns the longest sequence that is a beginning of `prompt` and shorter than it.
  std::optional<kv_sequence> take(std::span<const token_id> prompt);
  void clear();

  std::int64_t bytes() const { return bytes_; }
  std::size_t size() const { return kept_.size(); }

 private:
  struct entry {
    std::vector<token_id> tokens;
    kv_sequence sequence;
    std::uint64_t hash;
  };
  using place = std::list<entry>::iterator;

  kv_sequence remove(place which);

  std::int64_t bytes_max_;
  std::int64_t bytes_ = 0;
  std::list<entry> kept_;  // the oldest first
  std::unordered_multimap<std::uint64_t, place> by_hash_;
};

}  // namespace troupe::llm
