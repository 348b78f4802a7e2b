#include "actors/gradients/select_rows.hpp"

#include <algorithm>

#include "actors/gradients/choices.hpp"

namespace troupe::detail {

void select_rows_node::forward(graph_node& x, std::span<const std::int64_t> chosen) {
  require_choices(chosen, x.rows);
  x_ = &x;
  chosen_ = chosen;
  float* y = resize(static_cast<int>(chosen.size()), x.columns);
  want(x.is_trained());
  for (const auto row : chosen) y = std::copy_n(x.value + row * columns, columns, y);
}

void select_rows_node::backward() {
  const auto [first, count] = x_->wanted;
  const bool is_first = !x_->has_derivative;
  float* to = x_->open_derivative();
  if (is_first) std::fill_n(to, static_cast<std::ptrdiff_t>(x_->rows) * count, 0.0f);
  const float* d = derivative.data() + first;
  for (const auto row : chosen_) {
    for (int column = 0; column < count; ++column) to[row * count + column] += d[column];
    d += columns;
  }
}

}  // namespace troupe::detail
