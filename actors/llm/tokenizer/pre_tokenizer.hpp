#pragma once

#include <memory>
#include <string_view>
#include <vector>

namespace troupe::llm {

/// How a text is cut into the pieces that BPE sees, as the families do it.
enum class split_style {
  gpt2,    ///< words with the space before them, runs of digits, of signs, of white space
  smollm,  ///< digits one by one first, then as gpt2 does
  qwen2,   ///< contractions in either case, one sign before a word, digits one by one
  llama3,  ///< as qwen2, but digits by threes
};

/// Cuts texts. Const calls may run at the same time.
class pre_tokenizer {
 public:
  explicit pre_tokenizer(split_style style);
  ~pre_tokenizer();
  pre_tokenizer(pre_tokenizer&&) noexcept;
  pre_tokenizer& operator=(pre_tokenizer&&) noexcept;

  /// The pieces of a text in UTF-8, in order and without a gap.
  std::vector<std::string_view> split(std::string_view text) const;

 private:
  struct pattern;
  std::unique_ptr<const pattern> pattern_;
};

}  // namespace troupe::llm
