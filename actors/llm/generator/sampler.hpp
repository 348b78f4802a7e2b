#pragma once
// The sampling of tokens from logits, for the generation engine and conversation_writer.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "actors/llm/tokenizer/bpe.hpp"

namespace troupe::llm {

/// Options of sampling tokens. The filters apply in the order of these fields, each to the tokens
/// that the one before has left, as in transformers.
struct sampling_options {
  /// The divisor of the logits, from 0.001 to 1000. 0 takes the likeliest token without the
  /// filters, and the lowest id if several are equally likely.
  double temperature = 1.0;
  std::int64_t top_k = 0;  ///< keeps the k likeliest tokens and ties with the last; 0 keeps all
  double top_p = 1.0;      ///< keeps the likeliest until their sum is at least this; in (0, 1]
  double min_p = 0.0;      ///< keeps those at least this times as likely as the first; in [0, 1]
  /// The seed of sampling. The samples don't depend on other requests. None means that the
  /// generator chooses one.
  std::optional<std::uint64_t> seed = {};
};

/// Throws std::invalid_argument that names an option out of range, its value and the range.
void check_sampling(const sampling_options& options);

/// A number in [0, 1) that depends only on the seed and the position in the text.
double uniform_of(std::uint64_t seed, std::uint64_t position);

/// A sampled token and its log-probability.
struct drawn_token {
  token_id id = 0;
  /// The log-probability in the distribution from which the token was drawn, at the temperature and
  /// after the filters. For temperature 0 it is the model's, at temperature 1 and without filters.
  double log_prob = 0;
};

/// Samples tokens. It reuses its buffers, so only one thread may use it.
class sampler {
 public:
  /// Samples one token from the logits by the random number `uniform` in [0, 1). Throws
  /// std::runtime_error if a logit is not finite.
  drawn_token draw(std::span<const float> logits, const sampling_options& options, double uniform);

 private:
  void gather(float least);
  void keep_likeliest(const sampling_options& options, double sum);

  std::vector<float> weights_;  // one for each token of the vocabulary
  std::vector<token_id> kept_;  // the tokens that a filter has kept, the likeliest first
};

}  // namespace troupe::llm
