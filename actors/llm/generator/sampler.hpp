#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "actors/llm/tokenizer/bpe.hpp"

namespace troupe::llm {

/// How tokens are drawn. The filters apply in the order in which they stand here, each to what the
/// one before left, as transformers applies them.
struct sampling_options {
  /// Logits are divided by it; from 0.001 to 1000. 0: the likeliest token, the lowest id of
  /// several, without the filters.
  double temperature = 1.0;
  std::int64_t top_k = 0;  ///< only the likeliest k, and those as likely as the last; 0: all
  double top_p = 1.0;      ///< only the likeliest, until their sum is at least this; in (0, 1]
  double min_p = 0.0;      ///< only those at least this times as likely as the likeliest; in [0, 1]
  /// Of what is drawn, which doesn't depend on what else is computed beside it. None: the generator
  /// takes one.
  std::optional<std::uint64_t> seed;
};

/// Throws std::invalid_argument naming the option, its value and what was expected.
void check_sampling(const sampling_options& options);

/// A number in [0, 1) for a position of a text: always the same for the same seed.
double uniform_of(std::uint64_t seed, std::uint64_t position);

struct drawn_token {
  token_id id = 0;
  /// Its log-probability in the distribution it was drawn from: at the temperature, after the
  /// filters. For temperature 0 that of the model itself, at temperature 1.
  double log_prob = 0;
};

/// Draws tokens. Keeps memory from one to the next; for one thread.
class sampler {
 public:
  /// `uniform`: in [0, 1). Throws std::runtime_error where a logit is not finite.
  drawn_token draw(std::span<const float> logits, const sampling_options& options, double uniform);

 private:
  void gather(float least);
  void keep_likeliest(const sampling_options& options, double sum);

  std::vector<float> weights_;  // of the vocabulary
  std::vector<token_id> kept_;  // where there is a filter, the likeliest first
};

}  // namespace troupe::llm
