#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "actors/llm/model/decoder.hpp"
#include "actors/llm/tokenizer/bpe.hpp"

namespace troupe::llm {

/// A text whose end is to be scored: an answer to a prompt.
struct score_request {
  std::vector<token_id> tokens;  ///< prompt and answer, no longer than the context
  std::int64_t given = 1;        ///< tokens at the begin that are not scored, at least 1
  double temperature = 1.0;      ///< that logits are divided by, above 0
};

/// Computes how likely given tokens are, as a generator without filters would have drawn them: by
/// the same arithmetic, so that what was drawn and what is scored agree to rounding. Of one thread.
class token_scorer {
 public:
  explicit token_scorer(std::shared_ptr<const packed_weights> weights);

  /// Throws std::invalid_argument for weights of another shape.
  void set_weights(std::shared_ptr<const packed_weights> weights);

  /// Throws std::invalid_argument naming what is wrong with a request.
  void check(const score_request& request) const;

  /// log p(token | all before it) of each token from `given` on. Texts that begin with the same
  /// given tokens have these computed once. Throws as `check`.
  std::vector<std::vector<double>> score(std::span<const score_request> requests);

  /// Tokens that went through the model so far.
  std::int64_t computed() const { return computed_; }

 private:
  struct text;
  void read(std::vector<text>& texts, std::size_t at_once);

  decoder decoder_;
  std::vector<float> weights_;  // of a softmax
  std::int64_t computed_ = 0;
};

}  // namespace troupe::llm
