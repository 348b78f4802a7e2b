#pragma once
// Structured logs on stderr. A log line is a sentence, followed by its facts as key=value pairs:
//
//   log::warn("a replica was restarted", {{"service", name}, {"replica", index}});
//
// A message is one line, whatever is in it: an end of line becomes `\n`, other control characters
// and marks that are not seen become escapes such as `\u001b`, and a line of more than 32 KiB is
// cut and ends in "... (N bytes)". So no text from outside needs care here.

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>

namespace troupe::log {

/// One key=value pair. A value with spaces is quoted.
struct field {
  field(std::string_view key, std::string_view value) : key(key), value(value) {}
  field(std::string_view key, const char* value) : key(key), value(value) {}
  field(std::string_view key, const std::string& value) : key(key), value(value) {}
  template <class N>
    requires std::is_arithmetic_v<N>
  field(std::string_view key, N number) : key(key), value(to_text(number)) {}

  std::string_view key;
  std::string value;

 private:
  static std::string to_text(double number);
};

using fields = std::initializer_list<field>;

void debug(std::string_view what, fields facts = {});
void info(std::string_view what, fields facts = {});
void warn(std::string_view what, fields facts = {});
void error(std::string_view what, fields facts = {});

/// Sets the least severe level that is logged: "debug", "info", "warn", "error" or "off". Throws
/// std::invalid_argument naming these for any other text.
void set_level(std::string_view level);

}  // namespace troupe::log
