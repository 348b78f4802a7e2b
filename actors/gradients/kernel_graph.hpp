#pragma once
// The engine that runs on Troupe's kernels.

#include <memory>
#include <typeinfo>
#include <vector>

#include "actors/gradients/graph.hpp"
#include "actors/gradients/node.hpp"

namespace troupe {

/// Runs operations on the CPU with Troupe's kernels, whose products keep their order of addition.
/// The buffers of each operation are kept for the operation of the same place in the next step.
class kernel_graph final : public graph {
 public:
  void clear() override;
  variable constant(std::span<const float> numbers, int columns) override;
  variable parameter(const parameter_block& block, std::size_t first, int rows,
                     int columns) override;
  variable dense(variable x, const parameter_block& block, const detail::dense_layer& layer,
                 activation kind) override;
  /// Throws std::logic_error, because convolutions have no kernels here.
  variable features(variable x, const parameter_block& block, std::size_t first,
                    const detail::feature_extractor& extractor) override;
  variable element(element_operation operation, variable x, float a, float b) override;
  variable pair(pair_operation operation, variable x, variable y) override;
  variable product(variable x, variable y) override;
  variable row_dense(variable x, variable weight, variable bias) override;
  variable reduce_rows(row_operation operation, variable x) override;
  variable log_softmax(variable x) override;
  variable layer_norm(variable x, variable scale, variable shift, activation kind) override;
  variable slice(variable x, int first, int count) override;
  variable reshape(variable x, int columns) override;
  variable concat(std::span<const variable> parts) override;
  variable gather(variable x, std::span<const std::int64_t> chosen) override;
  variable select_rows(variable x, std::span<const std::int64_t> chosen) override;
  log_prob_and_entropy action_terms(const detail::action_head& head, variable outputs,
                                    variable log_std, const action_rows& actions) override;
  std::span<const std::int64_t> argmax(variable x, std::span<const float> allowed) override;
  variable stop_gradient(variable x) override;
  variable mean(variable x, std::span<const float> weight) override;
  variable sum(variable x, std::span<const float> weight) override;
  void backward(variable loss) override;
  std::span<const float> values(variable x) override;
  double number(variable x) override;

 private:
  /// Returns the node at the next place: that of the step before, if it is of the same kind.
  template <class Node>
  Node& next() {
    if (used_ == nodes_.size()) nodes_.emplace_back();
    auto& place = nodes_[used_++];
    const detail::graph_node* known = place.get();
    if (!known || typeid(*known) != typeid(Node)) place = std::make_unique<Node>();
    place->reset();
    return static_cast<Node&>(*place);
  }
  /// The handle of the node that next() has returned last.
  variable last();
  detail::graph_node& at(variable x) { return *nodes_[x.index()]; }

  std::vector<std::unique_ptr<detail::graph_node>> nodes_;
  std::size_t used_ = 0;
  detail::gradient_blocks blocks_;
  detail::float_block transposed_, sum_;
};

}  // namespace troupe
