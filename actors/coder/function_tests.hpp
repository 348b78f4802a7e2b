#pragma once
// Tests of Python functions. A coder calls the function with arguments, and the values that it
// returns are compared in this process. The program never sees the expected values and can only
// report values, so it can't pretend to pass.

#include <string>
#include <string_view>
#include <vector>

#include "actors/sandbox/code_result.hpp"

namespace troupe {

/// One call of a function, and the value that it must return.
struct function_test {
  std::string arguments;  ///< the arguments as a JSON list, such as [3,"abc"]
  std::string expected;   ///< the value that the function must return, in JSON
};

/// A function with its tests.
struct tested_function {
  std::string name;
  std::vector<function_test> tests;
};

/// The code in a model's answer: its first block between ``` lines that defines a function, or else
/// its first block, or else all of it. A block that isn't closed goes to the end.
std::string code_in(std::string_view answer);

/// The request for a coder: a program that executes the code, calls the function with the arguments
/// of each test and reports the values. Throws std::invalid_argument for arguments that are no JSON
/// list.
code_request call_function(const std::string& code, const tested_function& what);

/// The share of tests passed, from 0 to 1; 0 if there are no tests. A test is passed if the program
/// reported its value before it ended and the value equals the expected one as JSON: 3.0 equals 3,
/// a tuple equals a list, and True does not equal 1. A call that raises does not pass. No test is
/// passed if the program reported more values than there are tests.
double passed_share(const code_result& result, const tested_function& what);

}  // namespace troupe
