#pragma once
// The tokenizer of language models: from texts to token ids and back.

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

/// A token that is searched for in the text itself, before the text is split.
struct added_token {
  token_id id = 0;
  std::string text;
  bool special = false;     ///< true if it controls the model, like <|im_end|>, and is no text
  bool normalized = false;  ///< true if it is searched for in the normalised text
};

/// The data of a tokenizer, as read_tokenizer.hpp reads it from a file.
struct tokenizer_parts {
  std::vector<std::string> tokens;  ///< each by its id, in the byte alphabet; empty if unused
  std::vector<std::pair<std::string, std::string>> merges;  ///< sorted by rank
  bool ignore_merges = false;  ///< true if a piece that is a token becomes that token
  bool nfc = false;            ///< true if the text is normalised to Unicode's form C first
  split_style style = split_style::gpt2;
  std::vector<added_token> added;
  std::vector<token_id> before, after;  ///< the tokens that encode_options::add_special adds
};

struct encode_options {
  /// Adds the model's begin and end tokens around the text, if it has any. The text of a chat
  /// template has them already.
  bool add_special = false;
  /// Reads "<|im_end|>" in the text as the token of that name. Use it only for the program's own
  /// text, since the text of a user or an environment could end its turn with it.
  bool parse_special = false;
};

/// A byte-level BPE tokenizer that gives the same ids as the tokenizers library
/// (github.com/huggingface/tokenizers). Const calls may run at the same time.
class tokenizer {
 public:
  /// Throws std::invalid_argument for parts that don't fit together.
  explicit tokenizer(tokenizer_parts parts);

  /// The ids of a text. Throws std::invalid_argument with the position for a text that isn't UTF-8.
  std::vector<token_id> encode(std::string_view text, const encode_options& options = {}) const;

  /// The bytes of a token. Unknown ids have no bytes, since a model's embedding often has more rows
  /// than there are tokens.
  std::string_view bytes_of(token_id id) const;

  /// The text of ids, with U+FFFD for bytes that aren't UTF-8. Special tokens are written out
  /// unless `skip_special` is true. For ids that come one by one, add their bytes_of to a
  /// utf8_stream.
  std::string decode(std::span<const token_id> ids, bool skip_special = false) const;

  /// The id of the added token with this text, if there is one.
  std::optional<token_id> find(std::string_view text) const;
  /// The longest added token that the text begins with, if there is one. Its length is that of
  /// bytes_of. `special_only` leaves out tokens that are text.
  std::optional<token_id> added_at(std::string_view text, bool special_only) const;
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
  std::vector<std::string> bytes_;  // the bytes of each token, by id
  std::vector<bool> special_;       // true if each token is special, by id
  entries raw_, normalized_;        // added tokens
  std::vector<token_id> before_, after_;
};

}  // namespace troupe::llm
