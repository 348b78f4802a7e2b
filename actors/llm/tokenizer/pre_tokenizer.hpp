#pragma once
// The split of a text into pieces before byte pair encoding, for the tokenizer.

#include <memory>
#include <string_view>
#include <vector>

namespace troupe::llm {

/// The way in which a family of models splits texts into the pieces that BPE encodes.
enum class split_style {
  gpt2,    ///< words with the space before them, runs of digits, of punctuation, of white space
  smollm,  ///< single digits first, then like gpt2
  qwen2,   ///< contractions in either case, one punctuation mark before a word, single digits
  llama3,  ///< like qwen2, but up to three digits
};

/// Splits texts into pieces. Const calls may run at the same time.
class pre_tokenizer {
 public:
  explicit pre_tokenizer(split_style style);
  ~pre_tokenizer();
  pre_tokenizer(pre_tokenizer&&) noexcept;
  pre_tokenizer& operator=(pre_tokenizer&&) noexcept;

  /// The pieces of a UTF-8 text, in order and without gaps.
  std::vector<std::string_view> split(std::string_view text) const;

 private:
  struct pattern;
  std::unique_ptr<const pattern> pattern_;
};

}  // namespace troupe::llm
