#pragma once

#include <cstddef>

/// What decode_kernels.hpp computes, where gradients are wanted: on rows of floats, without state.
namespace troupe::llm {

/// Of y = rms_norm_rows(x): writes dx [rows, size] and adds dweight [size]. dx may not be dy.
void rms_norm_gradient(const float* x, const float* dy, std::ptrdiff_t rows, std::ptrdiff_t size,
                       const float* weight, float eps, float* dx, float* dweight);

/// y = silu(gate) * up.
void gate_values(const float* gate, const float* up, std::ptrdiff_t count, float* y);
/// And its gradients; dgate may be dy.
void gate_gradient(const float* gate, const float* up, const float* dy, std::ptrdiff_t count,
                   float* dgate, float* dup);

}  // namespace troupe::llm
