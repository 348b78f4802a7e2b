#pragma once
// Whether a Python function does what it should: a coder calls it with arguments, and what it
// returned is compared here. The program sees no expected value, so it can't claim to be right: all
// that it can report is values.

#include <string>
#include <string_view>
#include <vector>

#include "actors/coder/coder.hpp"

namespace troupe {

struct function_test {
  std::string arguments;  ///< a list in JSON: [3,"abc"]
  std::string expected;   ///< what the function is to return for them, in JSON
};

struct tested_function {
  std::string name;
  std::vector<function_test> tests;
};

/// The code in what a model wrote: its first block between ``` lines that defines a function, else
/// its first block, else all of it. A block that isn't closed goes to the end.
std::string code_in(std::string_view answer);

/// What a coder is to run: it executes the code, calls the function with the arguments of each test
/// and reports what that returned. Throws std::invalid_argument for arguments that are no list in
/// JSON.
code_request call_function(const std::string& code, const tested_function& what);

/// The share of tests passed, 0 to 1. A test is passed if its value came and is equal to the
/// expected one, as JSON: 3.0 is 3, a tuple is a list, True is not 1. One that comes after the
/// program's end, or a value that raises, isn't; and none is where more values came than there are
/// tests. 0 without tests.
double passed_share(const code_result& result, const tested_function& what);

}  // namespace troupe
