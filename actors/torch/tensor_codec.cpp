#include "actors/torch/tensor_codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "actors/torch/torch.hpp"

namespace troupe {

namespace {

constexpr std::string_view name = "at::Tensor";
constexpr std::size_t dimensions_max = 64;

/// Messages contain indices into this list, because libtorch's own numbers depend on its version.
constexpr std::array element_types{at::kFloat, at::kDouble, at::kHalf,  at::kBFloat16, at::kBool,
                                   at::kByte,  at::kChar,   at::kShort, at::kInt,      at::kLong};

std::uint8_t number_of(const at::Tensor& tensor) {
  const auto* const found =
      std::find(element_types.begin(), element_types.end(), tensor.scalar_type());
  if (found == element_types.end() || tensor.layout() != at::kStrided) {
    throw wire_error(
        fmt::format("at::Tensor: {} elements, {}: only dense tensors of real numbers "
                    "can be encoded",
                    c10::toString(tensor.scalar_type()),
                    tensor.layout() == at::kStrided ? "dense" : "not dense"));
  }
  return static_cast<std::uint8_t>(found - element_types.begin());
}

/// Returns the number of bytes of a tensor of this shape. Throws wire_error if the size overflows.
/// A dimension of 0 does not hide the overflow of others, because libtorch multiplies them too.
std::size_t bytes_of(const std::vector<std::int64_t>& shape, std::size_t element,
                     const wire_reader& from) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  auto product = static_cast<std::int64_t>(element);
  bool empty = false;
  for (const auto length : shape) {
    if (length < 0) from.fail(name, fmt::format("a dimension of {}", length));
    empty |= length == 0;
    if (product > most / std::max<std::int64_t>(length, 1)) from.fail(name, "its size overflows");
    product *= std::max<std::int64_t>(length, 1);
  }
  return empty ? 0 : static_cast<std::size_t>(product);
}

}  // namespace

std::size_t wire_codec<at::Tensor>::size(const at::Tensor& tensor) {
  if (!tensor.defined()) return 1;
  return 1 + wire_size(number_of(tensor)) + sizeof(std::uint64_t) +
         tensor.sizes().size() * sizeof(std::int64_t) + tensor.nbytes();
}

void wire_codec<at::Tensor>::write(const at::Tensor& tensor, wire_writer& to) {
  to.write(tensor.defined());
  if (!tensor.defined()) return;
  to.write(number_of(tensor));
  to.write(tensor.sizes().vec());
  const auto dense = tensor.detach().cpu().resolve_neg().contiguous();
  to.bytes(dense.data_ptr(), dense.nbytes());
}

at::Tensor wire_codec<at::Tensor>::read(wire_reader& from) {
  if (!from.read<bool>()) return {};
  const auto number = from.read<std::uint8_t>();
  if (number >= element_types.size()) {
    from.fail(name, fmt::format("no element type has number {}", number));
  }
  const auto type = element_types[number];
  const auto shape = from.read<std::vector<std::int64_t>>();
  if (shape.size() > dimensions_max) {
    from.fail(name,
              fmt::format("expected at most {} dimensions, got {}", dimensions_max, shape.size()));
  }
  const auto bytes = from.bytes(bytes_of(shape, c10::elementSize(type), from), name);
  if (type == at::kBool &&
      std::any_of(bytes.begin(), bytes.end(), [](std::byte b) { return b > std::byte{1}; })) {
    from.fail(name, "a bool that is neither 0 nor 1");
  }
  auto tensor = at::empty(shape, type);
  if (!bytes.empty()) std::memcpy(tensor.data_ptr(), bytes.data(), bytes.size());
  return tensor;
}

}  // namespace troupe
