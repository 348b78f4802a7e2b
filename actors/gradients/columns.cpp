#include "actors/gradients/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "actors/gradients/choices.hpp"

namespace troupe::detail {
namespace {

/// Copies `count` columns of each row. Rows are `from_width` and `to_width` numbers apart.
void copy_columns(const float* from, int from_width, int rows, int count, float* to, int to_width) {
  if (count == 1) {
    for (std::ptrdiff_t row = 0; row < rows; ++row) to[row * to_width] = from[row * from_width];
    return;
  }
  for (std::ptrdiff_t row = 0; row < rows; ++row, from += from_width, to += to_width) {
    for (int i = 0; i < count; ++i) to[i] = from[i];
  }
}

}  // namespace

void slice_node::forward(graph_node& x, int first, int count) {
  if (first < 0 || count < 1 || first + count > x.columns) {
    throw std::invalid_argument(
        fmt::format("graph: {} columns from column {} on, expected some of "
                    "{} columns",
                    count, first, x.columns));
  }
  x_ = &x;
  first_ = first;
  float* y = resize(x.rows, count);
  want(x.is_trained());
  copy_columns(x.value + first, x.columns, rows, count, y, count);
}

void slice_node::backward() {
  const float* d = derivative.data();
  add_derivative_by_rows(*x_, [&](std::ptrdiff_t row, int column) {
    const bool is_here = column >= first_ && column < first_ + columns;
    return is_here ? d[row * columns + column - first_] : 0.0f;
  });
}

void reshape_node::forward(graph_node& x, int column_count) {
  if (column_count < 1 || x.size() % static_cast<std::size_t>(column_count) != 0) {
    throw std::invalid_argument(
        fmt::format("graph: a matrix [{}, {}] in rows of {}, expected whole rows", x.rows,
                    x.columns, column_count));
  }
  x_ = &x;
  rows = static_cast<int>(x.size() / static_cast<std::size_t>(column_count));
  columns = column_count;
  value = x.value;
  want(x.is_trained());
}

void reshape_node::backward() {
  const float* d = derivative.data();
  add_derivative(*x_, [=](std::ptrdiff_t i) { return d[i]; });
}

void concat_node::forward() {
  int width = 0, begin = 0, end = 0;
  for (const auto* part : parts_) {
    if (part->rows != parts_.front()->rows) {
      throw std::invalid_argument(
          fmt::format("graph: matrices of {} and {} rows beside each other, "
                      "expected as many rows in each",
                      parts_.front()->rows, part->rows));
    }
    if (part->is_trained()) {
      if (end == 0) begin = width;
      end = width + part->columns;
    }
    width += part->columns;
  }
  float* y = resize(parts_.front()->rows, width);
  wanted = {begin, end - begin};
  for (const auto* part : parts_) {
    copy_columns(part->value, part->columns, rows, part->columns, y, width);
    y += part->columns;
  }
}

void concat_node::backward() {
  const float* d = derivative.data();
  int offset = -wanted.first;
  for (auto* part : parts_) {
    add_derivative_by_rows(*part, [&](std::ptrdiff_t row, int column) {
      return d[row * wanted.count + offset + column];
    });
    offset += part->columns;
  }
}

void gather_node::forward(graph_node& x, std::span<const std::int64_t> chosen) {
  if (chosen.size() != static_cast<std::size_t>(x.rows)) {
    throw std::invalid_argument(
        fmt::format("graph: {} choices for a matrix of {} rows, expected "
                    "one a row",
                    chosen.size(), x.rows));
  }
  require_choices(chosen, x.columns);
  x_ = &x;
  chosen_ = chosen;
  float* y = resize(x.rows, 1);
  want(x.is_trained());
  for (std::ptrdiff_t row = 0; row < rows; ++row) {
    y[row] = x.value[row * x.columns + chosen[row]];
  }
}

void gather_node::backward() {
  const float* d = derivative.data();
  add_derivative_by_rows(
      *x_, [&](std::ptrdiff_t row, int column) { return column == chosen_[row] ? d[row] : 0.0f; });
}

}  // namespace troupe::detail
