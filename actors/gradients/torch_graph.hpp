#pragma once
// The engine that runs on libtorch: convolutions, wide networks and GPUs.

#include <ATen/core/Tensor.h>

#include <vector>

#include "actors/gradients/node.hpp"
#include "actors/networks/device_link.hpp"

namespace troupe {

/// Runs operations with libtorch's operators and autograd, on one device.
class torch_graph final : public graph {
 public:
  /// Computes on the device of `link` with the precision `type`, float or double.
  explicit torch_graph(detail::device_link link, at::ScalarType type = at::kFloat);
  ~torch_graph() override;

  void clear() override;
  variable constant(std::span<const float> numbers, int columns) override;
  variable parameter(const parameter_block& block, std::size_t first, int rows,
                     int columns) override;
  variable dense(variable x, const parameter_block& block, const detail::dense_layer& layer,
                 activation kind) override;
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
  /// A block of parameters on the device.
  struct block_copy {
    parameter_block block;
    at::Tensor there;  // [P]
  };
  /// A part of a block, by which the loss is differentiated if the block has a gradient.
  struct leaf {
    parameter_block block;
    std::size_t first;
    at::Tensor part;
  };

  variable keep(at::Tensor result);
  const at::Tensor& at(variable x) const { return results_[x.index()]; }
  /// The numbers on the device, in the engine's precision.
  at::Tensor there(std::span<const float> numbers, at::IntArrayRef sizes) const;
  const at::Tensor& copy_of(const parameter_block& block);
  at::Tensor part(const parameter_block& block, std::size_t first, at::IntArrayRef sizes);
  /// Writes the derivative by a leaf to its block's gradient.
  void write(const leaf& of, const at::Tensor& derivative);

  detail::device_link link_;
  at::ScalarType type_;
  std::vector<at::Tensor> results_;
  std::vector<block_copy> blocks_;
  std::vector<leaf> leaves_;
  detail::gradient_blocks gradients_;
  std::vector<at::Tensor> read_;  // what values() and argmax() have returned views of
};

}  // namespace troupe
