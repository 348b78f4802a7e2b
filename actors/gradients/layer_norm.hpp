#pragma once
// Normalises each row, as torch.nn.LayerNorm.

#include <vector>

#include "actors/gradients/node.hpp"

namespace troupe::detail {

/// activation(scale (x - m) / sqrt(v + eps) + shift), with the mean m and the variance v of the
/// row.
class layer_norm_node final : public graph_node {
 public:
  void forward(graph_node& x, graph_node& scale, graph_node& shift, activation kind);
  void backward() override;

 private:
  /// What the derivative by a row of x needs of the whole row; n are its normalised numbers.
  struct row_numbers {
    float mean = 0;          ///< of dL/dn
    float mean_product = 0;  ///< of n dL/dn
  };

  void train_scale(const float* d);
  void carry_to_input(const float* d);

  graph_node* x_ = nullptr;
  graph_node* scale_ = nullptr;
  graph_node* shift_ = nullptr;
  activation kind_ = activation::linear;
  float_block normalised_;            // [rows, columns]
  float_block inverse_deviations_;    // [rows]
  std::vector<row_numbers> of_rows_;  // [rows]
  float_block column_sums_;           // [columns]
};

}  // namespace troupe::detail
