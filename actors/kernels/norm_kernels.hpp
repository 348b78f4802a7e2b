#pragma once
// The arithmetic of layer norms, for mlp and layer_norm_node.

#include <cstddef>

#include "actors/kernels/activation.hpp"

namespace troupe::detail {

/// What is added to a row's variance before its square root is taken. It is PyTorch's default.
inline constexpr double layer_norm_eps = 1e-5;
/// Writes normalised[rows, columns], (x - m) / sqrt(v + eps) with the mean m and the variance v of
/// each row, and the inverses of these square roots, inverse_deviation[rows], unless it is null.
/// `normalised` may be x.
void normalise_rows(const float* x, std::ptrdiff_t rows, std::ptrdiff_t columns, float* normalised,
                    float* inverse_deviation = nullptr);
/// Writes y[rows, columns] = activation(scale[columns] x + shift[columns]). y may be x.
void scale_rows(const float* x, const float* scale, const float* shift, activation kind,
                std::ptrdiff_t rows, std::ptrdiff_t columns, float* y);

}  // namespace troupe::detail
