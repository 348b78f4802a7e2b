#pragma once
// The tree of a template.

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actors/llm/jinja/value.hpp"

namespace troupe::llm::jinja {

struct expression;
using expression_ptr = std::unique_ptr<expression>;

/// The arguments of a call, a filter or a test.
struct arguments {
  std::vector<expression_ptr> positional = {};
  std::vector<std::pair<std::string, expression_ptr>> named = {};
};

enum class expression_kind {
  constant,     ///< `constant`
  name,         ///< `text`
  attribute,    ///< parts[0].text
  item,         ///< parts[0][parts[1]]
  slice,        ///< parts[0][parts[1]:parts[2]:parts[3]]; absent ones are null
  call,         ///< parts[0](given)
  filter,       ///< parts[0] | text(given); parts[0] is null for a block's filter
  test,         ///< parts[0] is text(given)
  list,         ///< [parts...]
  tuple,        ///< (parts...)
  dict,         ///< {parts[0]: parts[1], ...}
  negation,     ///< not parts[0]
  sign,         ///< text parts[0]
  both,         ///< parts[0] and parts[1]
  either,       ///< parts[0] or parts[1]
  arithmetic,   ///< parts[0] text parts[1]
  concat,       ///< parts[0] ~ parts[1] ~ ...
  comparison,   ///< parts[0] operators[0] parts[1] operators[1] ...
  conditional,  ///< parts[1] if parts[0] else parts[2], which may be null
  member,       ///< text.constant in an assignment, a namespace's attribute
};

struct expression {
  expression_kind kind = expression_kind::constant;
  int line = 0;
  int depth = 1;  ///< one more than that of the deepest part
  std::string text = {};
  value constant = {};
  std::vector<expression_ptr> parts = {};
  std::vector<std::string> operators = {};
  arguments given = {};
};

struct statement;
using block = std::vector<statement>;

enum class statement_kind {
  data,        ///< text as it is
  output,      ///< {{ expr }}
  condition,   ///< if and elif: expressions[i] with bodies[i]; one more body is the else
  loop,        ///< for target in expressions[0] if expressions[1]; bodies: each, else
  assignment,  ///< set target = expressions[0]
  capture,     ///< set target | expressions[0] with a body; expressions[0] may be null
  macro,       ///< definition
  generation,  ///< the assistant's part
  with,        ///< with targets = expressions
  filtered,    ///< filter expressions[0] with a body
  call_block,  ///< call of expressions[0] with definition as the caller
  leave,       ///< break
  next,        ///< continue
};

/// A macro: its name, its parameters and its body.
struct macro_definition {
  std::string name;
  std::vector<std::string> parameters;
  std::vector<expression_ptr> defaults;  ///< of the last parameters
  bool uses_varargs = false, uses_kwargs = false, uses_caller = false;
  std::vector<statement> body;
};

struct statement {
  statement_kind kind = statement_kind::data;
  int line = 0;
  text data = {};
  std::vector<expression_ptr> targets = {};
  std::vector<expression_ptr> expressions = {};
  std::vector<block> bodies = {};
  std::unique_ptr<macro_definition> definition = {};
};

}  // namespace troupe::llm::jinja
