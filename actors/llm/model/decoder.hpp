#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <span>
#include <vector>

#include "actors/llm/model/kv_sequence.hpp"
#include "actors/llm/model/model_config.hpp"
#include "actors/llm/model/model_weights.hpp"
#include "actors/llm/tokenizer/bpe.hpp"

namespace troupe::llm {

class packed_weights;

/// Puts weights into the order in which a decoder reads them, a copy of all but the embedding; what
/// is given doesn't change any more and can be used by any number of decoders. The embedding must
/// not change either. Throws std::invalid_argument for a head_dim that 16 doesn't divide.
std::shared_ptr<const packed_weights> pack_weights(const model_config& config,
                                                   const model_weights& weights);

enum class wanted_logits { none, last, all };

/// Tokens that a sequence goes on with.
struct token_run {
  kv_sequence* sequence = nullptr;
  std::span<const token_id> tokens;
  wanted_logits wanted = wanted_logits::last;
};

/// Computes what comes next, on the processor it runs on and on one thread, for sequences of any
/// length together and without padding: prompts, parts of prompts, and sequences that grow by a
/// token each. The linear layers see all tokens as one batch; a token's logits are the same
/// whatever else is in it.
class decoder {
 public:
  explicit decoder(std::shared_ptr<const packed_weights> weights);

  /// Between two steps: the next one computes with these, on the keys and values that are there.
  /// Throws std::invalid_argument for the weights of another shape.
  void set_weights(std::shared_ptr<const packed_weights> weights);

  const model_config& config() const;

  /// Adds the runs' tokens to their sequences, each of which is in one run, and gives the logits
  /// [rows, vocab_size] that are wanted, in the runs' order. Throws std::invalid_argument, with no
  /// sequence changed, for an id that is no row of the embedding, a run without tokens, a sequence
  /// without room or twice, and one that would be longer than the context.
  at::Tensor forward(std::span<const token_run> runs);

 private:
  struct token_place;
  std::vector<token_place> places_of(std::span<const token_run> runs) const;
  void attend_layer(std::int64_t layer, const std::vector<token_place>& places);

  std::shared_ptr<const packed_weights> weights_;
  std::vector<float> frequencies_;
  // Of one step, [tokens, ...].
  std::vector<float> x_, normed_, qkv_, attended_, gate_up_, gated_, cosine_, sine_, scores_;
};

}  // namespace troupe::llm
