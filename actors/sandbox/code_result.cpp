#include "actors/sandbox/code_result.hpp"

#include <signal.h>

namespace troupe {

std::string_view name_of(code_limit limit) {
  constexpr std::string_view names[] = {
      "",           "wall_time",     "cpu_time", "memory",      "processes",
      "open_files", "written_bytes", "files",    "output_bytes"};
  return names[static_cast<std::size_t>(limit)];
}

code_limit limit_named(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(code_limit::output_bytes); ++i) {
    const auto limit = static_cast<code_limit>(i);
    if (name_of(limit) == name) return limit;
  }
  return code_limit::none;
}

bool is_end_of_cpu_time(const code_result& result, const code_limits& limits) {
  constexpr double tolerance_s = 0.5;
  return result.signal == SIGXCPU ||
         (result.signal == SIGKILL && result.cpu_s >= limits.cpu_s - tolerance_s);
}

}  // namespace troupe
