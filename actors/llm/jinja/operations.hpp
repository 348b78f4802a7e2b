#pragma once
// The operators of templates, which are those of Python.

#include <string_view>
#include <vector>

#include "actors/llm/jinja/machine.hpp"
#include "actors/llm/jinja/value.hpp"

namespace troupe::llm::jinja {

/// The text of a value, as Python's str and repr write it.
text str_of(machine& run, const value& of);
text repr_of(machine& run, const value& of);

struct json_format {
  bool ascii = false;
  bool sorted = false;
  bool indented = false;
  text indent = {};
  text item_separator = {}, key_separator = {};
};
/// The value in JSON, as Python's json.dumps writes it.
text json_of(machine& run, const value& of, const json_format& format);

/// The items of a list, the keys of a dictionary or the characters of a text.
std::vector<value> items_of(machine& run, const value& of);
/// How many items there are. Throws run_error for a value without a length.
std::int64_t length_of(const value& of);

bool equal(machine& run, const value& a, const value& b);
/// Less than 0, 0 or more than 0. Throws run_error for values without an order.
int compare(machine& run, const value& a, const value& b);
bool contains(machine& run, const value& all, const value& one);
/// One of == != < <= > >=, in, and not in.
bool compare_with(machine& run, std::string_view sign, const value& a, const value& b);
/// One of + - * / // % and **.
value calculate(machine& run, std::string_view sign, const value& a, const value& b);
value with_sign(std::string_view sign, const value& of);

/// value.name and value[key]. What isn't there is undefined.
value attribute_of(machine& run, const value& of, std::string_view name);
value item_of(machine& run, const value& of, const value& key);
/// value[begin:end:step]; an absent part is none.
value slice_of(machine& run, const value& of, const value& begin, const value& end,
               const value& step);

}  // namespace troupe::llm::jinja
