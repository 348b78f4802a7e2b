#include "actors/gradients/embedding.hpp"

#include <algorithm>

#include "actors/gradients/choices.hpp"

namespace troupe::detail {

void embedding_node::forward(graph_node& table, std::span<const std::int64_t> chosen) {
  require_choices(chosen, table.rows);
  table_ = &table;
  chosen_ = chosen;
  float* y = resize(static_cast<int>(chosen.size()), table.columns);
  want(table.is_trained());
  for (const auto row : chosen) y = std::copy_n(table.value + row * columns, columns, y);
}

void embedding_node::backward() {
  const auto [first, count] = table_->wanted;
  const bool is_first = !table_->has_derivative;
  float* to = table_->open_derivative();
  if (is_first) std::fill_n(to, static_cast<std::ptrdiff_t>(table_->rows) * count, 0.0f);
  const float* d = derivative.data() + first;
  for (const auto row : chosen_) {
    for (int column = 0; column < count; ++column) to[row * count + column] += d[column];
    d += columns;
  }
}

}  // namespace troupe::detail
