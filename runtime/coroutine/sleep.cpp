#include "runtime/coroutine/sleep.hpp"

#include <fmt/format.h>

namespace troupe::detail {

std::string to_text(duration d) {
  const double seconds = std::chrono::duration<double>(d).count();
  if (seconds >= 1 || seconds == 0) return fmt::format("{:.3g} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} us", seconds * 1e6);
}

}  // namespace troupe::detail
