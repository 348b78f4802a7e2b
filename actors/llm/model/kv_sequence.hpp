#pragma once
// The cache of keys and values of a text, for the decoder.

#include <cstdint>
#include <memory>
#include <vector>

#include "actors/llm/model/model_config.hpp"
#include "actors/llm/model/packed_matrix.hpp"

namespace troupe::llm {

/// The keys and values of consecutive tokens. Keys are stored in blocks of 16 tokens, [layers,
/// kv_heads, capacity / 16, head_dim, 16], so that a query is multiplied with 16 of them at once.
/// Values are [layers, kv_heads, capacity, head_dim].
struct kv_segment {
  kv_segment(const model_config& config, std::int64_t room);

  float* keys_of(std::int64_t layer, std::int64_t head) {
    return keys.data() + (layer * kv_heads + head) * capacity * head_dim;
  }
  float* values_of(std::int64_t layer, std::int64_t head) {
    return values.data() + (layer * kv_heads + head) * capacity * head_dim;
  }

  std::int64_t kv_heads, head_dim;
  std::int64_t capacity;  ///< a multiple of 16
  std::int64_t used = 0;
  aligned_floats keys, values;
};

/// A decoder's memory of a text: the keys and values of its tokens. fork() gives a sequence that
/// shares the memory of these tokens and grows separately, so that the prompt of a group is
/// computed once. Only one thread may use a sequence and its forks.
class kv_sequence {
 public:
  /// An empty sequence with room for this many tokens.
  kv_sequence(const model_config& config, std::int64_t room);
  kv_sequence(kv_sequence&&) noexcept = default;
  kv_sequence& operator=(kv_sequence&&) noexcept = default;

  std::int64_t length() const;  ///< the number of tokens so far
  std::int64_t room() const;    ///< tokens that can be added; 0 while forks share the last part
  std::int64_t bytes() const;   ///< the memory in bytes, including shared parts

  kv_sequence fork(std::int64_t room) const;

 private:
  friend class decoder;
  kv_sequence(const model_config& config, std::vector<std::shared_ptr<kv_segment>> segments)
      : config_(config), segments_(std::move(segments)) {}

  model_config config_;
  std::vector<std::shared_ptr<kv_segment>> segments_;  // the last is written, the others are shared
};

}  // namespace troupe::llm
