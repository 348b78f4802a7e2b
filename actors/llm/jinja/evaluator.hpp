#pragma once
// Runs the tree of a template.

#include "actors/llm/jinja/machine.hpp"
#include "actors/llm/jinja/parser.hpp"

namespace troupe::llm::jinja {

/// The text that the template writes. `line` is where it is, for messages. Throws run_error.
text run_template(const tree& of, const dict& variables, machine& run, int& line);

}  // namespace troupe::llm::jinja
