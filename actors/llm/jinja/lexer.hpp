#pragma once
// Tokens of a template's text.

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::llm::jinja {

/// A template that can't be read. The message has the line.
class syntax_error : public std::runtime_error {
 public:
  syntax_error(int line, const std::string& what)
      : std::runtime_error("line " + std::to_string(line) + ": " + what) {}
};

enum class token_kind {
  data,
  begin_output,
  end_output,
  begin_block,
  end_block,
  name,
  string,
  integer,
  real,
  sign,  ///< an operator or a bracket
  end,
};

struct token {
  token_kind kind = token_kind::end;
  std::string text = {};
  int line = 1;
};

/// The tokens, with the white space around tags as Jinja leaves it with trim_blocks and
/// lstrip_blocks. The last token is `end`. Throws syntax_error.
std::vector<token> tokens_of(std::string_view source);

}  // namespace troupe::llm::jinja
