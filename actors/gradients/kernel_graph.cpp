#include "actors/gradients/kernel_graph.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "actors/gradients/action_terms.hpp"
#include "actors/gradients/columns.hpp"
#include "actors/gradients/dense.hpp"
#include "actors/gradients/element.hpp"
#include "actors/gradients/layer_norm.hpp"
#include "actors/gradients/pair.hpp"
#include "actors/gradients/product.hpp"
#include "actors/gradients/row_dense.hpp"
#include "actors/gradients/rows.hpp"
#include "actors/gradients/select_rows.hpp"
#include "actors/gradients/sources.hpp"
#include "actors/gradients/sum.hpp"

namespace troupe {

void kernel_graph::clear() {
  used_ = 0;
  blocks_.clear();
}

variable kernel_graph::last() {
  const auto& node = *nodes_[used_ - 1];
  return {*this, used_ - 1, node.rows, node.columns};
}

variable kernel_graph::constant(std::span<const float> numbers, int columns) {
  next<detail::constant_node>().forward(numbers, columns);
  return last();
}

variable kernel_graph::parameter(const parameter_block& block, std::size_t first, int rows,
                                 int columns) {
  next<detail::parameter_node>().forward(block, first, rows, columns, blocks_);
  return last();
}

variable kernel_graph::dense(variable x, const parameter_block& block,
                             const detail::dense_layer& layer, activation kind) {
  next<detail::dense_node>().forward(at(x), block, layer, kind, blocks_, transposed_, sum_);
  return last();
}

variable kernel_graph::features(variable, const parameter_block&, std::size_t,
                                const detail::feature_extractor&) {
  throw std::logic_error("kernel_graph: convolutions, expected torch_graph for them");
}

variable kernel_graph::element(element_operation operation, variable x, float a, float b) {
  next<detail::element_node>().forward(operation, at(x), a, b);
  return last();
}

variable kernel_graph::pair(pair_operation operation, variable x, variable y) {
  next<detail::pair_node>().forward(operation, at(x), at(y));
  return last();
}

variable kernel_graph::product(variable x, variable y) {
  next<detail::product_node>().forward(at(x), at(y), transposed_, sum_);
  return last();
}

variable kernel_graph::row_dense(variable x, variable weight, variable bias) {
  next<detail::row_dense_node>().forward(at(x), at(weight), at(bias));
  return last();
}

variable kernel_graph::reduce_rows(row_operation operation, variable x) {
  next<detail::rows_node>().forward(operation, at(x));
  return last();
}

variable kernel_graph::log_softmax(variable x) {
  next<detail::log_softmax_node>().forward(at(x));
  return last();
}

variable kernel_graph::layer_norm(variable x, variable scale, variable shift, activation kind) {
  next<detail::layer_norm_node>().forward(at(x), at(scale), at(shift), kind);
  return last();
}

variable kernel_graph::slice(variable x, int first, int count) {
  next<detail::slice_node>().forward(at(x), first, count);
  return last();
}

variable kernel_graph::reshape(variable x, int columns) {
  next<detail::reshape_node>().forward(at(x), columns);
  return last();
}

variable kernel_graph::concat(std::span<const variable> parts) {
  auto& node = next<detail::concat_node>();
  node.begin();
  for (const auto& part : parts) node.add(at(part));
  node.forward();
  return last();
}

variable kernel_graph::gather(variable x, std::span<const std::int64_t> chosen) {
  next<detail::gather_node>().forward(at(x), chosen);
  return last();
}

variable kernel_graph::select_rows(variable x, std::span<const std::int64_t> chosen) {
  next<detail::select_rows_node>().forward(at(x), chosen);
  return last();
}

log_prob_and_entropy kernel_graph::action_terms(const detail::action_head& head, variable outputs,
                                                variable log_std, const action_rows& actions) {
  auto* log_stds = log_std.is_defined() ? &at(log_std) : nullptr;
  auto& terms = next<detail::action_terms_node>();
  terms.forward(head, at(outputs), log_stds, actions);
  const auto log_prob = last();
  next<detail::entropy_node>().forward(terms);
  return {log_prob, last()};
}

std::span<const std::int64_t> kernel_graph::argmax(variable x, std::span<const float> allowed) {
  auto& node = next<detail::argmax_node>();
  node.forward(at(x), allowed);
  return node.chosen();
}

variable kernel_graph::stop_gradient(variable x) {
  const auto& from = at(x);
  auto& node = next<detail::constant_node>();
  node.forward({from.value, from.size()}, from.columns);
  node.number = from.number;
  return last();
}

variable kernel_graph::mean(variable x, std::span<const float> weight) {
  next<detail::sum_node>().forward(at(x), weight, x.rows());
  return last();
}

variable kernel_graph::sum(variable x, std::span<const float> weight) {
  next<detail::sum_node>().forward(at(x), weight, 1);
  return last();
}

void kernel_graph::backward(variable loss) {
  auto& end = at(loss);
  if (end.size() != 1) {
    throw std::invalid_argument(
        fmt::format("graph: a loss [{}, {}], expected one number", end.rows, end.columns));
  }
  if (end.is_trained()) {
    *end.open_derivative() = 1.0f;
    for (std::size_t i = loss.index() + 1; i-- > 0;) {
      if (nodes_[i]->has_derivative) nodes_[i]->backward();
    }
  }
  blocks_.finish();
}

std::span<const float> kernel_graph::values(variable x) { return {at(x).value, at(x).size()}; }

double kernel_graph::number(variable x) { return at(x).number; }

}  // namespace troupe
