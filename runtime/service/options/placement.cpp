#include "runtime/service/options/placement.hpp"

namespace troupe::detail {

bool name_fits(std::string_view name, std::string_view pattern) {
  // After a '*', the star takes one more character each time the rest doesn't fit.
  std::size_t n = 0, p = 0, star = pattern.npos, taken = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p, ++n;
    } else if (star != pattern.npos) {
      p = star + 1;
      n = ++taken;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace troupe::detail
