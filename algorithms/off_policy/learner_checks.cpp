#include "algorithms/off_policy/learner_checks.hpp"

#include <stdexcept>

#include <fmt/format.h>

namespace troupe::detail {

void expect_size(const char* algorithm, const char* what, std::size_t got, std::size_t expected) {
  if (got == expected) return;
  throw std::invalid_argument(
      fmt::format("{} state: {} of {} numbers, expected {}", algorithm, what, got, expected));
}

}  // namespace troupe::detail
