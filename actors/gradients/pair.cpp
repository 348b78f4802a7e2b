#include "actors/gradients/pair.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace troupe::detail {
namespace {

constexpr float forbidden = -1e8f;

/// result[i] = f(x[i], y[k]) for the element k of y that belongs to i.
template <class Index, class F>
void combine(int rows, int columns, const Index& index, const float* x, const float* y,
             float* result, const F& f) {
  std::ptrdiff_t i = 0;
  for (std::ptrdiff_t row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column, ++i) {
      result[i] = f(x[i], y[index(i, row, column)]);
    }
  }
}

}  // namespace

template <class F>
void pair_node::with_index(const F& f) const {
  switch (spread_) {
    case spread::none:
      return f([](std::ptrdiff_t i, std::ptrdiff_t, int) { return i; });
    case spread::column:
      return f([](std::ptrdiff_t, std::ptrdiff_t row, int) { return row; });
    case spread::row:
      return f([](std::ptrdiff_t, std::ptrdiff_t, int column) {
        return static_cast<std::ptrdiff_t>(column);
      });
  }
}

void pair_node::forward(pair_operation operation, graph_node& x, graph_node& y) {
  operation_ = operation;
  x_ = &x;
  y_ = &y;
  if (y.rows == x.rows && y.columns == x.columns) {
    spread_ = spread::none;
  } else if (y.rows == x.rows && y.columns == 1) {
    spread_ = spread::column;
  } else if (y.rows == 1 && y.columns == x.columns) {
    spread_ = spread::row;
  } else {
    throw std::invalid_argument(
        fmt::format("graph: a matrix [{}, {}] with one of [{}, {}], expected one of the same size, "
                    "a column or a row",
                    x.rows, x.columns, y.rows, y.columns));
  }
  float* result = resize(x.rows, x.columns);
  want(x.is_trained() || (y.is_trained() && operation != pair_operation::mask));
  with_index([&](const auto& index) {
    const auto apply = [&](const auto& f) {
      if (spread_ != spread::none)
        return combine(rows, columns, index, x.value, y.value, result, f);
      const auto count = static_cast<std::ptrdiff_t>(size());
      for (std::ptrdiff_t i = 0; i < count; ++i) result[i] = f(x.value[i], y.value[i]);
    };
    switch (operation) {
      case pair_operation::add:
        number = x.number + y.number;
        return apply([](float a, float b) { return a + b; });
      case pair_operation::subtract:
        number = x.number - y.number;
        return apply([](float a, float b) { return a - b; });
      case pair_operation::multiply:
        return apply([](float a, float b) { return a * b; });
      case pair_operation::minimum:
        return apply([](float a, float b) { return b < a ? b : a; });
      case pair_operation::maximum:
        return apply([](float a, float b) { return b > a ? b : a; });
      case pair_operation::mask:
        return apply([](float a, float b) { return b > 0.0f ? a : forbidden; });
    }
  });
}

template <class G>
void pair_node::add_to_second(const G& g) {
  if (!y_->is_trained()) return;
  const auto at = [this](std::ptrdiff_t row, int column) {
    return row * columns + static_cast<std::ptrdiff_t>(column);
  };
  switch (spread_) {
    case spread::none:
      return add_derivative(*y_, [&](std::ptrdiff_t i) { return g(i, i); });
    case spread::column:
      return add_derivative(*y_, [&](std::ptrdiff_t row) {
        float sum = 0;
        for (int column = 0; column < columns; ++column) sum += g(at(row, column), row);
        return sum;
      });
    case spread::row:
      return add_derivative(*y_, [&](std::ptrdiff_t column) {
        float sum = 0;
        for (int row = 0; row < rows; ++row) sum += g(at(row, int(column)), column);
        return sum;
      });
  }
}

void pair_node::backward() {
  const float* d = derivative.data();
  const float* x = x_->value;
  const float* y = y_->value;
  switch (operation_) {
    case pair_operation::add:
      add_derivative(*x_, [=](std::ptrdiff_t i) { return d[i]; });
      return add_to_second([=](std::ptrdiff_t i, std::ptrdiff_t) { return d[i]; });
    case pair_operation::subtract:
      add_derivative(*x_, [=](std::ptrdiff_t i) { return d[i]; });
      return add_to_second([=](std::ptrdiff_t i, std::ptrdiff_t) { return -d[i]; });
    case pair_operation::multiply:
      if (spread_ == spread::none) {
        add_derivative(*x_, [=](std::ptrdiff_t i) { return d[i] * y[i]; });
        return add_derivative(*y_, [=](std::ptrdiff_t i) { return d[i] * x[i]; });
      }
      with_index([&](const auto& index) {
        add_derivative_by_rows(*x_, [&](std::ptrdiff_t row, int column) {
          const auto i = row * columns + column;
          return d[i] * y[index(i, row, column)];
        });
      });
      return add_to_second([=](std::ptrdiff_t i, std::ptrdiff_t) { return d[i] * x[i]; });
    case pair_operation::minimum:
    case pair_operation::maximum: {
      const auto takes_second = [=, least = operation_ == pair_operation::minimum](
                                    std::ptrdiff_t i, std::ptrdiff_t k) {
        return least ? y[k] < x[i] : y[k] > x[i];
      };
      with_index([&](const auto& index) {
        add_derivative_by_rows(*x_, [&](std::ptrdiff_t row, int column) {
          const auto i = row * columns + column;
          return takes_second(i, index(i, row, column)) ? 0.0f : d[i];
        });
      });
      return add_to_second(
          [=](std::ptrdiff_t i, std::ptrdiff_t k) { return takes_second(i, k) ? d[i] : 0.0f; });
    }
    case pair_operation::mask:
      return with_index([&](const auto& index) {
        add_derivative_by_rows(*x_, [&](std::ptrdiff_t row, int column) {
          const auto i = row * columns + column;
          return y[index(i, row, column)] > 0.0f ? d[i] : 0.0f;
        });
      });
  }
}

}  // namespace troupe::detail
