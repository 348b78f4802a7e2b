#pragma once
// The gradients of the functions in decode_kernels.hpp, on rows of floats and without state.

#include <cstddef>

namespace troupe::llm {

/// The gradient of y = rms_norm_rows(x). Writes dx [rows, size] and adds to dweight [size]. dx must
/// not be dy.
void rms_norm_gradient(const float* x, const float* dy, std::ptrdiff_t rows, std::ptrdiff_t size,
                       const float* weight, float eps, float* dx, float* dweight);

/// y = silu(gate) * up.
void gate_values(const float* gate, const float* up, std::ptrdiff_t count, float* y);
/// The gradients of gate_values. dgate may be dy.
void gate_gradient(const float* gate, const float* up, const float* dy, std::ptrdiff_t count,
                   float* dgate, float* dup);

}  // namespace troupe::llm
