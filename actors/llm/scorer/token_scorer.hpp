#pragma once
// The scoring of given tokens without actors. scorer.hpp makes a role of it.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "actors/llm/model/decoder.hpp"
#include "actors/llm/tokenizer/bpe.hpp"

namespace troupe::llm {

/// A text whose end is to be scored, such as an answer to a prompt.
struct score_request {
  std::vector<token_id> tokens;  ///< prompt and answer, no longer than the context
  std::int64_t given = 1;        ///< the number of first tokens that are not scored, at least 1
  double temperature = 1.0;      ///< the divisor of the logits, from 0.001 to 1000
};

/// Computes the log-probabilities that a generator would have recorded with given tokens. It uses
/// the same arithmetic, so that both agree up to rounding. Only one thread may use it.
class token_scorer {
 public:
  explicit token_scorer(std::shared_ptr<const packed_weights> weights);

  /// Throws std::invalid_argument for weights of another shape.
  void set_weights(std::shared_ptr<const packed_weights> weights);

  /// Throws std::invalid_argument that says what is wrong with the request.
  void check(const score_request& request) const;

  /// log p(token | all before it) of each token from `given` on, for each request. Given tokens
  /// that several requests share are computed once. Throws like `check`.
  std::vector<std::vector<double>> score(std::span<const score_request> requests);

  /// The number of tokens that have gone through the model so far.
  std::int64_t computed() const { return computed_; }

 private:
  struct text;
  void read(std::vector<text>& texts, std::size_t at_once);

  decoder decoder_;
  std::vector<float> weights_;  // the weights of one softmax
  std::int64_t computed_ = 0;
};

}  // namespace troupe::llm
