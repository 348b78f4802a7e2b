#include "actors/llm/files/tensor_type.hpp"

#include <array>
#include <limits>
#include <stdexcept>
#include <string>

namespace troupe::llm {
namespace {

struct layout {
  std::string_view name;
  std::uint64_t elements;  // the number of elements in a block
  std::uint64_t bytes;
};

// The layouts in the order of tensor_type.
constexpr std::array<layout, 18> layouts{{
    {"F64", 1, 8},
    {"F32", 1, 4},
    {"F16", 1, 2},
    {"BF16", 1, 2},
    {"I64", 1, 8},
    {"I32", 1, 4},
    {"I16", 1, 2},
    {"I8", 1, 1},
    {"U8", 1, 1},
    {"BOOL", 1, 1},
    {"Q4_0", 32, 18},
    {"Q4_1", 32, 20},
    {"Q5_0", 32, 22},
    {"Q5_1", 32, 24},
    {"Q8_0", 32, 34},
    {"Q4_K", 256, 144},
    {"Q5_K", 256, 176},
    {"Q6_K", 256, 210},
}};

const layout& layout_of(tensor_type type) { return layouts[static_cast<std::size_t>(type)]; }

}  // namespace

std::string_view name_of(tensor_type type) { return layout_of(type).name; }
std::uint64_t elements_of_block(tensor_type type) { return layout_of(type).elements; }
std::uint64_t bytes_of_block(tensor_type type) { return layout_of(type).bytes; }

std::uint64_t bytes_of(tensor_type type, const std::vector<std::int64_t>& shape) {
  const auto& block = layout_of(type);
  const auto row = shape.empty() ? 1 : shape.back();
  if (row >= 0 && static_cast<std::uint64_t>(row) % block.elements != 0)
    throw std::invalid_argument("rows of whole blocks of " + std::to_string(block.elements) + ' ' +
                                std::string(block.name) + " elements, got rows of " +
                                std::to_string(row));
  std::uint64_t blocks = 1;
  bool empty = false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < 0)
      throw std::invalid_argument("sizes of 0 or more, got " + std::to_string(shape[i]));
    auto size = static_cast<std::uint64_t>(shape[i]);
    if (i + 1 == shape.size()) size /= block.elements;
    if (size == 0) {
      empty = true;
      continue;
    }
    constexpr std::uint64_t most = std::uint64_t{1} << 62;
    if (blocks > most / block.bytes / size)
      throw std::invalid_argument("at most 2^62 bytes, got more");
    blocks *= size;
  }
  return empty ? 0 : blocks * block.bytes;
}

}  // namespace troupe::llm
