#include "actors/gradients/action_terms.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace troupe::detail {
namespace {

void check(const action_head& head, const graph_node& outputs, const graph_node* log_std) {
  if (outputs.columns != head.outputs()) {
    throw std::invalid_argument(
        fmt::format("graph: actions of a matrix [{}, {}], expected {} columns", outputs.rows,
                    outputs.columns, head.outputs()));
  }
  if (head.continuous_size() == 0) return;
  if (!log_std || log_std->columns != head.continuous_size() ||
      (log_std->rows != 1 && log_std->rows != outputs.rows)) {
    throw std::invalid_argument(
        fmt::format("graph: log standard deviations [{}, {}], expected [1, {}] or [{}, {}]",
                    log_std ? log_std->rows : 0, log_std ? log_std->columns : 0,
                    head.continuous_size(), outputs.rows, head.continuous_size()));
  }
}

}  // namespace

log_std_rows action_terms_node::log_stds() const {
  if (!log_std_) return {};
  return {log_std_->value, log_std_->rows == 1 ? 0 : log_std_->columns};
}

void action_terms_node::forward(const action_head& head, graph_node& outputs, graph_node* log_std,
                                const action_rows& actions) {
  check(head, outputs, log_std);
  head_ = &head;
  outputs_ = &outputs;
  log_std_ = head.continuous_size() > 0 ? log_std : nullptr;
  actions_ = actions;
  float* result = resize(outputs.rows, 2);
  want(outputs.is_trained() || (log_std_ && log_std_->is_trained()));
  float* log_prob = grown(terms_, size());
  float* entropy = log_prob + rows;
  head.evaluate(outputs.value, log_stds(), rows, actions, choices_, log_prob, entropy);
  for (std::ptrdiff_t row = 0; row < rows; ++row) {
    result[2 * row] = log_prob[row];
    result[2 * row + 1] = entropy[row];
  }
}

void action_terms_node::backward() {
  float* d_log_prob = grown(terms_, size());
  float* d_entropy = d_log_prob + rows;
  for (std::ptrdiff_t row = 0; row < rows; ++row) {
    d_log_prob[row] = derivative[2 * row];
    d_entropy[row] = derivative[2 * row + 1];
  }
  const float* d_outputs = grown(d_outputs_, outputs_->size());
  const float* d_log_std = grown(d_log_std_, log_std_ ? log_std_->size() : 0);
  head_->backward(outputs_->value, log_stds(), rows, actions_, choices_, d_log_prob, d_entropy,
                  d_outputs_.data(), d_log_std_.data());
  add_derivative(*outputs_, [=](std::ptrdiff_t i) { return d_outputs[i]; });
  if (log_std_) add_derivative(*log_std_, [=](std::ptrdiff_t i) { return d_log_std[i]; });
}

}  // namespace troupe::detail
