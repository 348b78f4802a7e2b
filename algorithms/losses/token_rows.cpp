#include "actors/torch/torch.hpp"

#include "algorithms/losses/token_rows.hpp"

#include <stdexcept>

namespace troupe {
namespace {

void check(const char* name, const at::Tensor& tensor, std::int64_t size) {
  TORCH_CHECK(tensor.defined() && tensor.dim() == 1 && tensor.size(0) == size, name, " must be [",
              size, "], got ", tensor.defined() ? tensor.sizes() : at::IntArrayRef{});
  TORCH_CHECK(tensor.is_floating_point(), name, " must be of floats, got ", tensor.scalar_type());
}

}  // namespace

token_rows::token_rows(std::vector<std::int64_t> lengths) : lengths_(std::move(lengths)) {
  if (lengths_.empty()) throw std::invalid_argument("token_rows: expected an answer, got none");
  for (const auto length : lengths_) {
    if (length < 1)
      throw std::invalid_argument("token_rows: expected answers of 1 token or more, got " +
                                  std::to_string(length));
    tokens_ += length;
  }
  answer_of_ = at::repeat_interleave(at::arange(answers(), at::kLong), at::tensor(lengths_));
}

at::Tensor token_rows::sums(const at::Tensor& of_tokens) const {
  check_tokens("of_tokens", of_tokens);
  return at::zeros({answers()}, of_tokens.options()).index_add(0, answer_of_, of_tokens);
}

at::Tensor token_rows::means(const at::Tensor& of_tokens) const {
  return sums(of_tokens) / at::tensor(lengths_).to(of_tokens.scalar_type());
}

at::Tensor token_rows::spread(const at::Tensor& of_answers) const {
  check_answers("of_answers", of_answers);
  return of_answers.index_select(0, answer_of_);
}

void token_rows::check_tokens(const char* name, const at::Tensor& tensor) const {
  check(name, tensor, tokens_);
}

void token_rows::check_answers(const char* name, const at::Tensor& tensor) const {
  check(name, tensor, answers());
}

}  // namespace troupe
