#pragma once
// How tensors cross processes. Whoever has an at::Tensor in a message includes this; without it
// the message's type is not encodable.

#include <ATen/core/Tensor.h>

#include "runtime/wire/codec.hpp"

namespace troupe {

/// Type, shape and bytes: what arrives is dense, row-major, on the CPU and without a gradient,
/// whatever the layout and the device were. An undefined tensor stays one. Throws wire_error for
/// one that is sparse, or complex, or quantised.
template <>
struct wire_codec<at::Tensor> {
  static constexpr std::size_t bytes_min = 1;
  static std::size_t size(const at::Tensor& tensor);
  static void write(const at::Tensor& tensor, wire_writer& to);
  static at::Tensor read(wire_reader& from);
};

}  // namespace troupe
