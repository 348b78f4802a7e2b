#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "actors/llm/tokenizer/bpe.hpp"
#include "actors/llm/tokenizer/pre_tokenizer.hpp"
#include "actors/llm/tokenizer/utf8_stream.hpp"

namespace troupe::llm {

/// A token that is found in the text itself, before anything else is done to it.
struct added_token {
  token_id id = 0;
  std::string text;
  bool special = false;     ///< controls the model, as <|im_end|> does: no text of a user's
  bool normalized = false;  ///< found in the normalised text
};

/// What a tokenizer is made of; a file's reader fills it.
struct tokenizer_parts {
  std::vector<std::string> tokens;  ///< by id, in the byte alphabet; empty: a hole
  std::vector<std::pair<std::string, std::string>> merges;  ///< by rank
  bool ignore_merges = false;  ///< a piece that is a token is that token
  bool nfc = false;            ///< the text is normalised to Unicode's form C first
  split_style style = split_style::gpt2;
  std::vector<added_token> added;
  std::vector<token_id> before, after;  ///< what encode_options::add_special puts around a text
};

struct encode_options {
  /// Put the model's begin and end around the text, where it has them. Not for a chat template's
  /// text, which has them.
  bool add_special = false;
  /// Read "<|im_end|>" in the text as the token of that name. Only for text of the program's own: a
  /// user's, or an environment's, could end its turn with it.
  bool parse_special = false;
};

/// Byte-level BPE, the same ids as the tokenizers library (github.com/huggingface/tokenizers).
/// Const calls may run at the same time.
class tokenizer {
 public:
  /// Throws std::invalid_argument for parts that don't fit together.
  explicit tokenizer(tokenizer_parts parts);

  /// Throws std::invalid_argument for a text that isn't UTF-8, with the byte.
  std::vector<token_id> encode(std::string_view text, const encode_options& options = {}) const;

  /// The bytes of a token. Ids that the tokenizer lacks have none: a model's embedding often has
  /// more rows than there are tokens.
  std::string_view bytes_of(token_id id) const;

  /// The text of ids; bytes that aren't UTF-8 as U+FFFD. Special tokens are written out unless
  /// `skip_special`. While ids still come, add their bytes_of to a utf8_stream.
  std::string decode(std::span<const token_id> ids, bool skip_special = false) const;

  /// The id of an added token by its text.
  std::optional<token_id> find(std::string_view text) const;
  bool is_special(token_id id) const;
  /// One more than the highest id.
  token_id size() const { return static_cast<token_id>(bytes_.size()); }

 private:
  struct entry {
    std::string text;
    token_id id;
    bool special;
  };
  using entries = std::unordered_map<char, std::vector<entry>>;  // by first byte, longest first

  template <class Between>
  void split_at_added(const entries& added, std::string_view text, bool parse_special,
                      std::vector<token_id>& ids, Between between) const;

  bpe bpe_;
  pre_tokenizer pre_tokenizer_;
  bool nfc_;
  std::vector<std::string> bytes_;  // by id
  std::vector<bool> special_;       // by id
  entries raw_, normalized_;        // added tokens
  std::vector<token_id> before_, after_;
};

}  // namespace troupe::llm
