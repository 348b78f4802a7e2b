// The log of the code that a plug-in has of Troupe, which has no logger: a line of its own on
// stderr.

#include <cstdio>

#include "runtime/base/log.hpp"
#include "runtime/base/utf8.hpp"

namespace troupe::log {

void warn(std::string_view what, fields facts) {
  std::string line(what);
  for (const auto& fact : facts) line += ' ' + std::string(fact.key) + '=' + fact.value;
  constexpr std::size_t line_bytes_max = 32'768;
  line = detail::printable_text(line, line_bytes_max, detail::line_ends::short_escapes);
  std::fprintf(stderr, "%s\n", line.c_str());
}

}  // namespace troupe::log
