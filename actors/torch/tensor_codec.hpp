#pragma once
// The encoding of tensors in messages between processes. A message type with an at::Tensor is
// encodable only where this header is included.

#include <ATen/core/Tensor.h>

#include "runtime/wire/codec.hpp"

namespace troupe {

/// Encodes type, shape and bytes. A received tensor is dense, row-major, on the CPU and without a
/// gradient, whatever the layout and the device of the sent one. An undefined tensor stays
/// undefined. Throws wire_error for a sparse, complex or quantised tensor.
template <>
struct wire_codec<at::Tensor> {
  static constexpr std::size_t bytes_min = 1;
  static std::size_t size(const at::Tensor& tensor);
  static void write(const at::Tensor& tensor, wire_writer& to);
  static at::Tensor read(wire_reader& from);
};

}  // namespace troupe
