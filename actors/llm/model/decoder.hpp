#pragma once
// Inference with a language model on the CPU, for generators and scorers.

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

/// Copies weights into the order in which a decoder reads them. The result is immutable and can be
/// shared by any number of decoders. The embedding is not copied and must not change any more.
/// Throws std::invalid_argument for a head_dim that is not a multiple of 16.
std::shared_ptr<const packed_weights> pack_weights(const model_config& config,
                                                   const model_weights& weights);

/// The positions of a run's tokens whose logits are wanted.
enum class wanted_logits { none, last, all };

/// The next tokens of a sequence, and the positions whose logits are wanted.
struct token_run {
  kv_sequence* sequence = nullptr;
  std::span<const token_id> tokens;
  wanted_logits wanted = wanted_logits::last;
};

/// Computes the logits of the next tokens on the CPU, on one thread, for sequences of any length
/// together and without padding: prompts, parts of prompts, and sequences that grow by one token.
/// The linear layers take all tokens as one batch. A token's logits don't depend on the others in
/// the batch.
class decoder {
 public:
  explicit decoder(std::shared_ptr<const packed_weights> weights);

  /// Replaces the weights from the next step on. Sequences keep their keys and values. Throws
  /// std::invalid_argument for weights of another shape.
  void set_weights(std::shared_ptr<const packed_weights> weights);

  const model_config& config() const;

  /// Adds the runs' tokens to their sequences and returns the wanted logits [rows, vocab_size] in
  /// the order of the runs. Throws std::invalid_argument and changes no sequence if an id is no row
  /// of the embedding, a run has no tokens, a sequence has no room or is in two runs, or a sequence
  /// would be longer than the context.
  at::Tensor forward(std::span<const token_run> runs);

 private:
  struct token_place;
  std::vector<token_place> places_of(std::span<const token_run> runs) const;
  void attend_layer(std::int64_t layer, const std::vector<token_place>& places);

  std::shared_ptr<const packed_weights> weights_;
  std::vector<float> frequencies_;
  // Buffers of one step, [tokens, ...].
  std::vector<float> x_, normed_, qkv_, attended_, gate_up_, gated_, cosine_, sine_, scores_;
};

}  // namespace troupe::llm
