#include "runtime/coroutine/sleep.hpp"

#include <fmt/format.h>

namespace troupe::detail {

std::string to_text(duration d) {
  const auto in = [](double number, const char* unit) {
    return number < 999.5 ? fmt::format("{:.3g} {}", number, unit)
                          : fmt::format("{:.0f} {}", number, unit);
  };
  const double seconds = std::chrono::duration<double>(d).count();
  // Three digits of what is a little less than one unit would be 1000 of the next one.
  if (seconds >= 0.9995 || seconds == 0) return in(seconds, "s");
  if (seconds >= 0.9995e-3) return in(seconds * 1e3, "ms");
  return in(seconds * 1e6, "us");
}

}  // namespace troupe::detail
