#pragma once
// Observes the losses that a learner differentiates, and computes them again with other parameters.
// The check of update rules uses it.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "actors/gradients/graph.hpp"
#include "actors/networks/device_link.hpp"

namespace troupe::detail {

/// A tensor of parameters that a loss is differentiated by.
struct observed_part {
  std::string name;       ///< Such as "layer 2 weight [64, 64]", in the order of first use.
  std::size_t block = 0;  ///< The index of its block among the loss's.
  std::size_t first = 0;
  std::size_t count = 0;
};

/// A block of trained parameters at the time of a loss, and the derivative of the loss by it.
struct observed_block {
  std::vector<float> values;
  std::vector<float> gradient;
};

/// A loss of which a learner has computed the gradient.
struct observed_loss {
  std::size_t graph = 0;  ///< The index of its graph, in the order in which they were made.
  std::size_t step = 0;   ///< The number of the graph's clear() calls before it.
  double number = 0.0;
  std::vector<observed_part> parts;
  std::vector<observed_block> blocks;
  /// The results of stop_gradient and of argmax in its step, in order. They are constants of it.
  std::vector<std::vector<float>> stopped;
  std::vector<std::vector<std::int64_t>> chosen;
};

/// Returns the losses that `run` differentiates, in order. `run` makes a learner and its updates;
/// the graphs that make_graph returns meanwhile on this thread are observed. It is ended by an
/// exception as soon as each of them has had a loss.
std::vector<observed_loss> observe_losses(const std::function<void()>& run);

/// Computes the loss `which` of those that were observed again, in double precision on libtorch,
/// where its trained blocks have the numbers `values`. Steps before it are repeated with the
/// gradients that were observed, so that `run` must do the same each time. What stop_gradient and
/// argmax return is what was observed. Throws std::runtime_error if `run` does something else.
double loss_with(const std::function<void()>& run, const std::vector<observed_loss>& losses,
                 std::size_t which, const std::vector<std::vector<float>>& values);

/// Returns the graph through which the learner's losses are observed: `made`, unless this thread is
/// in one of the functions above. make_graph calls it.
std::unique_ptr<graph> observed(std::unique_ptr<graph> made, const device_link& link);

}  // namespace troupe::detail
