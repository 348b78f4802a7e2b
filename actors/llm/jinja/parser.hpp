#pragma once
// From a template's text to its tree.

#include <set>
#include <string>
#include <string_view>

#include "actors/llm/jinja/lexer.hpp"
#include "actors/llm/jinja/syntax.hpp"

namespace troupe::llm::jinja {

/// How deep expressions and statements may be nested.
inline constexpr int syntax_depth_max = 200;

struct tree {
  block body;
  std::set<std::string, std::less<>> strings;  ///< the constant strings of expressions
  std::set<std::string, std::less<>> names;    ///< the names that expressions read
};

/// Throws syntax_error for what isn't a template, and for a statement, filter, test, method or
/// function that isn't known.
tree parse(std::string_view source);

}  // namespace troupe::llm::jinja
