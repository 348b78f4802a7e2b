#include "runtime/base/print_error.hpp"

#include <cstdio>
#include <string>

#include "runtime/base/utf8.hpp"

namespace troupe {

namespace {

std::string shown(std::string_view what) {
  constexpr std::size_t bytes_max = 65'536;
  return detail::printable_text(what, bytes_max, detail::line_ends::kept);
}

}  // namespace

void print_error(std::string_view who, std::string_view what) {
  std::fprintf(stderr, "%s: %s\n", std::string(who).c_str(), shown(what).c_str());
}

void print_error(std::string_view what) { std::fprintf(stderr, "%s\n", shown(what).c_str()); }

}  // namespace troupe
