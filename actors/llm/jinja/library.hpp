#pragma once
// The filters, tests, methods and functions of templates.

#include <string_view>

#include "actors/llm/jinja/machine.hpp"
#include "actors/llm/jinja/value.hpp"

namespace troupe::llm::jinja {

bool is_filter(std::string_view name);
bool is_test(std::string_view name);
bool is_method(std::string_view name);
bool is_function(std::string_view name);

value filtered(machine& run, std::string_view name, const value& of, const given_arguments& given);
bool tested(machine& run, std::string_view name, const value& of, const given_arguments& given);
value call_method(machine& run, const bound_method& method, const given_arguments& given);
value call_function(machine& run, builtin function, const given_arguments& given);
/// The function of this name, or undefined.
value function_named(std::string_view name);

/// True if values of this type have a method of this name in Python, also one that isn't known
/// here.
bool has_method(const value& of, std::string_view name);

/// The arguments of a call by the names of the parameters.
class bound_arguments {
 public:
  /// Throws run_error for an argument too many and for an unknown name.
  bound_arguments(std::string_view callee, const given_arguments& given,
                  std::vector<std::string_view> names);
  /// The argument, or null if it wasn't given.
  const value* at(std::size_t index) const { return found_[index]; }
  /// Throws run_error if it wasn't given.
  const value& need(std::size_t index) const;
  bool truth(std::size_t index, bool otherwise) const;
  std::int64_t integer(std::size_t index, std::int64_t otherwise) const;

 private:
  std::string_view callee_;
  std::vector<std::string_view> names_;
  std::vector<const value*> found_;
};

}  // namespace troupe::llm::jinja
