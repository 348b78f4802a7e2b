#include "actors/llm/files/tensor_view.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "actors/llm/files/dequantise.hpp"

namespace troupe::llm {

namespace {

constexpr std::uint64_t piece_bytes = std::uint64_t{1} << 20;

/// Throws for a NaN or an infinity among the elements, of which the first has this number.
void require_finite(const tensor_view& of, std::span<const float> values, std::uint64_t first) {
  // All bits of the exponent are set in those alone. The loop has no branch.
  constexpr std::uint32_t exponent = 0x7F80'0000;
  std::uint32_t found = 0;
  for (const float value : values)
    found |= std::uint32_t{(std::bit_cast<std::uint32_t>(value) & exponent) == exponent};
  if (found == 0) return;
  const auto at = std::find_if_not(values.begin(), values.end(),
                                   [](float value) { return std::isfinite(value); });
  throw of.error("expected finite numbers, got " +
                 std::string(std::isnan(*at) ? "NaN" : "infinity") + " at element " +
                 std::to_string(first + static_cast<std::uint64_t>(at - values.begin())));
}

}  // namespace

std::int64_t tensor_view::elements() const {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end())
    return 0;  // the product of the other sizes may overflow
  std::int64_t count = 1;
  for (const auto size : shape) count *= size;
  return count;
}

llm_file_error tensor_view::error(const std::string& what) const {
  std::string place;
  if (file) {
    place = file->path().string() + ": tensor \"" + name + '"';
    if (size > 0) place += " at byte " + std::to_string(offset);
  } else {
    place = "tensor \"" + name + '"';
  }
  return llm_file_error(place + ": " + what);
}

namespace {

void copy_elements(const tensor_view& from, std::span<float> to, bool only_finite) {
  if (std::int64_t(to.size()) != from.elements())
    throw std::logic_error("copy_floats: expected room for " + std::to_string(from.elements()) +
                           " floats, got " + std::to_string(to.size()));
  const auto refuse = [&] {
    return from.error("expected floating-point elements, got " + std::string(name_of(from.type)));
  };
  if (to.empty()) {
    if (!dequantise(from.type, {}, to)) throw refuse();
    return;
  }
  const auto block = bytes_of_block(from.type);
  const auto piece = std::max<std::uint64_t>(piece_bytes / block, 1) * block;
  std::string bytes;
  for (std::uint64_t at = 0; at < from.size; at += piece) {
    const auto size = static_cast<std::size_t>(std::min(piece, from.size - at));
    bytes.resize(size);
    from.file->read(from.offset + at, size, bytes.data());
    const auto first = at / block * elements_of_block(from.type);
    const auto count = size / block * elements_of_block(from.type);
    const auto part = to.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
    if (!dequantise(from.type, bytes, part)) throw refuse();
    if (only_finite) require_finite(from, part, first);
  }
}

}  // namespace

void copy_floats(const tensor_view& from, std::span<float> to) { copy_elements(from, to, false); }

void copy_weights(const tensor_view& from, std::span<float> to) { copy_elements(from, to, true); }

bool have_equal_bytes(const tensor_view& a, const tensor_view& b) {
  if (a.size != b.size) return false;
  for (std::uint64_t at = 0; at < a.size; at += piece_bytes) {
    const auto size = static_cast<std::size_t>(std::min(piece_bytes, a.size - at));
    if (a.file->read(a.offset + at, size) != b.file->read(b.offset + at, size)) return false;
  }
  return true;
}

std::string to_string(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (const auto size : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  return text + ']';
}

}  // namespace troupe::llm
