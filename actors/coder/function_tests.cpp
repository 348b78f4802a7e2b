#include "actors/coder/function_tests.hpp"

#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "runtime/base/utf8.hpp"
#include "runtime/config/config_error.hpp"
#include "runtime/config/json_text.hpp"

namespace troupe {

namespace {

using nlohmann::json;

// The program around the code. It reports one line of JSON for each test: [VALUE], or [] if the
// call raised or its value can't be written as JSON.
constexpr const char* test_runner = R"py(
import json, os, sys
asked = json.load(sys.stdin)
names = {"__name__": "answer"}
exec(compile(asked["code"], "answer.py", "exec"), names)
function = names[asked["function"]]
with os.fdopen(3, "w") as report:
    for arguments in asked["arguments"]:
        try:
            line = json.dumps([function(*arguments)], allow_nan=False)
        except Exception:
            line = "[]"
        print(line, file=report, flush=True)
)py";

/// Removes the next line from the text and returns it.
std::string_view take_line(std::string_view& text) {
  const auto end = text.find('\n');
  const auto line = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  return line;
}

bool is_fence(std::string_view line) {
  const auto first = line.find_first_not_of(" \t");
  return first != line.npos && line.substr(first).starts_with("```");
}

/// Parses a JSON text. Returns a discarded value if the text is malformed.
json parse_or_discard(std::string_view text) {
  try {
    return parse_json(text);
  } catch (const config_error&) {
    return json(json::value_t::discarded);
  }
}

bool is_passed(std::string_view line, const std::string& expected) {
  const auto value = parse_or_discard(line);
  return value.is_array() && value.size() == 1 && value[0] == parse_json(expected);
}

}  // namespace

std::string code_in(std::string_view answer) {
  std::optional<std::string> first;
  for (auto rest = answer; !rest.empty();) {
    if (!is_fence(take_line(rest))) continue;
    std::string block;
    while (!rest.empty()) {
      const auto line = take_line(rest);
      if (is_fence(line)) break;
      block.append(line).append("\n");
    }
    if (block.find("def ") != block.npos) return block;
    if (!first) first = std::move(block);
  }
  return first.value_or(std::string(answer));
}

code_request call_function(const std::string& code, const tested_function& what) {
  json arguments = json::array();
  for (const auto& test : what.tests) {
    arguments.push_back(parse_or_discard(test.arguments));
    if (!arguments.back().is_array())
      throw std::invalid_argument("function tests: " + what.name +
                                  ": expected a list of arguments in JSON, got \"" +
                                  detail::printable(test.arguments, 80) + '"');
  }
  const json asked{{"code", code}, {"function", what.name}, {"arguments", std::move(arguments)}};
  return {.program = test_runner,
          .input = asked.dump(-1, ' ', false, json::error_handler_t::replace)};
}

double passed_share(const code_result& result, const tested_function& what) {
  if (what.tests.empty()) return 0.0;
  std::string_view rest = result.reported;
  double passed = 0.0;
  for (const auto& test : what.tests) passed += is_passed(take_line(rest), test.expected);
  return rest.empty() ? passed / double(what.tests.size()) : 0.0;
}

}  // namespace troupe
