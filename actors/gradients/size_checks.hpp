#pragma once
// The checks of sizes that both engines make before they read memory.

#include <span>
#include <stdexcept>

#include <fmt/format.h>

namespace troupe::detail {

/// Returns how many rows of `columns` the numbers are. Throws std::invalid_argument unless they are
/// whole rows.
inline int whole_rows(std::span<const float> numbers, int columns) {
  if (columns < 1 || numbers.size() % static_cast<std::size_t>(columns) != 0) {
    throw std::invalid_argument(fmt::format("graph: {} numbers in rows of {}, expected whole rows",
                                            numbers.size(), columns));
  }
  return static_cast<int>(numbers.size() / static_cast<std::size_t>(columns));
}

/// Throws std::invalid_argument unless a matrix whose mean or sum is wanted is a column with a
/// weight for each row or none.
inline void require_column(int rows, int columns, std::span<const float> weight) {
  if (columns == 1 && (weight.empty() || weight.size() == static_cast<std::size_t>(rows))) return;
  throw std::invalid_argument(
      fmt::format("graph: a mean or sum of a matrix [{}, {}] with {} weights, "
                  "expected a column, and a weight a row or none",
                  rows, columns, weight.size()));
}

/// Throws std::invalid_argument unless there are no flags, or one for each element of a matrix.
inline void require_flags(int rows, int columns, std::span<const float> allowed) {
  const auto size = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  if (allowed.empty() || allowed.size() == size) return;
  throw std::invalid_argument(
      fmt::format("graph: {} flags of what a matrix [{}, {}] allows, expected one an element",
                  allowed.size(), rows, columns));
}

/// Throws std::invalid_argument unless a matrix [rows, columns] from parameter `first` on lies in a
/// block of `size` parameters.
inline void require_within(std::size_t first, int rows, int columns, std::size_t size) {
  if (first + static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns) <= size) return;
  throw std::invalid_argument(fmt::format(
      "graph: a matrix [{}, {}] from parameter {} on, expected one within a block of {}", rows,
      columns, first, size));
}

}  // namespace troupe::detail
