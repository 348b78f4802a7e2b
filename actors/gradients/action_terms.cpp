#include "actors/gradients/action_terms.hpp"

#include <fmt/format.h>

#include <algorithm>
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
  d_entropy_ = nullptr;
  float* log_prob = resize(outputs.rows, 1);
  want(outputs.is_trained() || (log_std_ && log_std_->is_trained()));
  head.evaluate(outputs.value, log_stds(), rows, actions, choices_, log_prob,
                grown(entropy_, size()));
}

void action_terms_node::take_entropy_derivative(const float* derivatives) {
  d_entropy_ = derivatives;
  if (!has_derivative) std::fill_n(open_derivative(), size(), 0.0f);
}

void action_terms_node::backward() {
  if (!d_entropy_) {
    std::fill_n(grown(zeros_, size()), size(), 0.0f);
    d_entropy_ = zeros_.data();
  }
  const float* d_outputs = grown(d_outputs_, outputs_->size());
  const float* d_log_std = grown(d_log_std_, log_std_ ? log_std_->size() : 0);
  head_->backward(outputs_->value, log_stds(), rows, actions_, choices_, derivative.data(),
                  d_entropy_, d_outputs_.data(), d_log_std_.data());
  add_derivative(*outputs_, [=](std::ptrdiff_t i) { return d_outputs[i]; });
  if (log_std_) add_derivative(*log_std_, [=](std::ptrdiff_t i) { return d_log_std[i]; });
}

void entropy_node::forward(action_terms_node& terms) {
  terms_ = &terms;
  rows = terms.rows;
  columns = 1;
  value = terms.entropy();
  want(terms.is_trained());
}

void entropy_node::backward() { terms_->take_entropy_derivative(derivative.data()); }

}  // namespace troupe::detail
