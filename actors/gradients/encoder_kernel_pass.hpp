#pragma once
// The way in which encoders act.

#include <memory>

#include "actors/networks/encoder.hpp"

namespace troupe::detail {

/// Returns an encoder's pass on Troupe's kernels. The encoder must outlive it.
std::unique_ptr<encoder_pass> make_kernel_pass(const encoder& of);

}  // namespace troupe::detail
