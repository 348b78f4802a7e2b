#pragma once
// The layout of the tokens of several answers, on which the losses of language models are computed.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace troupe {

/// The layout of N answers of a language model with T tokens together, one after the other without
/// padding. Data of tokens are tensors [T], data of answers are tensors [N]. The lengths replace a
/// mask.
class token_rows {
 public:
  /// Throws std::invalid_argument if there is no answer or an answer has no token.
  explicit token_rows(std::vector<std::int64_t> lengths);

  std::int64_t tokens() const { return tokens_; }
  std::int64_t answers() const { return static_cast<std::int64_t>(lengths_.size()); }
  const std::vector<std::int64_t>& lengths() const { return lengths_; }

  /// The sum over each answer's tokens, [T] -> [N]. Differentiable.
  at::Tensor sums(const at::Tensor& of_tokens) const;
  /// The mean over each answer's tokens, [T] -> [N]. Differentiable.
  at::Tensor means(const at::Tensor& of_tokens) const;
  /// Repeats each answer's number for its tokens, [N] -> [T]. Differentiable.
  at::Tensor spread(const at::Tensor& of_answers) const;

  /// Throws c10::Error that names the tensor unless it is a float or double [T].
  void check_tokens(const char* name, const at::Tensor& tensor) const;
  /// Throws c10::Error that names the tensor unless it is a float or double [N].
  void check_answers(const char* name, const at::Tensor& tensor) const;

 private:
  std::vector<std::int64_t> lengths_;
  std::int64_t tokens_ = 0;
  at::Tensor answer_of_;  // int64 [T]: the answer of each token
};

}  // namespace troupe
