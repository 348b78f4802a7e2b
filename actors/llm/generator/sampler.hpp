#pragma once
// The sampling of tokens from logits, for the generation engine and conversation_writer.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "actors/llm/tokenizer/bpe.hpp"

namespace troupe::llm {

/// Options of sampling tokens. The repetition penalty comes first, then the temperature. The
/// filters apply in the order of these fields, each to the tokens that the one before has left, as
/// in transformers.
struct sampling_options {
  /// The divisor of the logits, from 0.001 to 1000. 0 takes the likeliest token without the
  /// filters, and the lowest id if several are equally likely.
  double temperature = 1.0;
  std::int64_t top_k = 0;  ///< keeps the k likeliest tokens and ties with the last; 0 keeps all
  double top_p = 1.0;      ///< keeps the likeliest until their sum is at least this; in (0, 1]
  double min_p = 0.0;      ///< keeps those at least this times as likely as the first; in [0, 1]
  /// Positive logits of the tokens that are in the text already are divided by this, and negative
  /// ones are multiplied with it, from 0.001 to 1000. 1 means no penalty. It is the penalty of
  /// Keskar et al. 2019, arXiv:1909.05858, section 4.1, for logits of both signs, as
  /// RepetitionPenaltyLogitsProcessor of transformers has it.
  double repetition_penalty = 1.0;
  /// The seed of sampling. The samples don't depend on other requests. None means that the
  /// generator chooses one.
  std::optional<std::uint64_t> seed = {};
};

/// Throws std::invalid_argument that names an option out of range, its value and the range.
void check_sampling(const sampling_options& options);

/// A number in [0, 1) that depends only on the seed and the position in the text.
double uniform_of(std::uint64_t seed, std::uint64_t position);

/// The tokens of a text before the one that is drawn, to which the repetition penalty applies. They
/// must be ids of the vocabulary.
struct text_before {
  std::span<const token_id> prompt = {}, answer = {};
};

/// A sampled token and its log-probability.
struct drawn_token {
  token_id id = 0;
  /// The log-probability in the model's whole distribution at the temperature, without the filters
  /// and the repetition penalty, as training recomputes it. For temperature 0 it is that at
  /// temperature 1.
  double log_prob = 0;
};

/// Samples tokens. It reuses its buffers, so only one thread may use it.
class sampler {
 public:
  /// Samples one token from the logits by the random number `uniform` in [0, 1). `before` is read
  /// only for a repetition penalty. Throws std::runtime_error if a logit is not finite.
  drawn_token draw(std::span<const float> logits, const sampling_options& options, double uniform,
                   const text_before& before = {});

 private:
  void penalise(std::span<const float> logits, double penalty, const text_before& before);
  void gather(float least);
  void keep_likeliest(const sampling_options& options, double sum);

  std::vector<float> weights_;    // one for each token of the vocabulary
  std::vector<float> penalised_;  // the logits after the repetition penalty
  std::vector<token_id> kept_;    // the tokens that a filter has kept, the likeliest first
};

}  // namespace troupe::llm
