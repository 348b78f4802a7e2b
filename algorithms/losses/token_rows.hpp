#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace troupe {

/// Answers of a language model, one after the other without padding: N of them, T tokens together.
/// What is known of each token is a tensor [T], what is known of each answer a tensor [N]. A mask
/// would say nothing more than these lengths do, and could be wrong.
class token_rows {
 public:
  /// Throws std::invalid_argument for no answer, and for one without a token.
  explicit token_rows(std::vector<std::int64_t> lengths);

  std::int64_t tokens() const { return tokens_; }
  std::int64_t answers() const { return static_cast<std::int64_t>(lengths_.size()); }
  const std::vector<std::int64_t>& lengths() const { return lengths_; }

  /// [T] -> [N]: of each answer. Differentiable.
  at::Tensor sums(const at::Tensor& of_tokens) const;
  at::Tensor means(const at::Tensor& of_tokens) const;
  /// [N] -> [T]: each token gets its answer's. Differentiable.
  at::Tensor spread(const at::Tensor& of_answers) const;

  /// Throws c10::Error naming the tensor unless it is a float or double [T].
  void check_tokens(const char* name, const at::Tensor& tensor) const;
  /// The same for [N].
  void check_answers(const char* name, const at::Tensor& tensor) const;

 private:
  std::vector<std::int64_t> lengths_;
  std::int64_t tokens_ = 0;
  at::Tensor answer_of_;  // int64 [T]
};

}  // namespace troupe
