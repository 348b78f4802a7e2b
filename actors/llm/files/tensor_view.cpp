#include "actors/llm/files/tensor_view.hpp"

#include <algorithm>

#include "actors/llm/files/dequantise.hpp"

namespace troupe::llm {

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
    if (!bytes.empty()) place += " at byte " + std::to_string(bytes.data() - file->bytes().data());
  } else {
    place = "tensor \"" + name + '"';
  }
  return llm_file_error(place + ": " + what);
}

void copy_floats(const tensor_view& from, std::span<float> to) {
  if (std::int64_t(to.size()) != from.elements())
    throw std::logic_error("copy_floats: expected room for " + std::to_string(from.elements()) +
                           " floats, got " + std::to_string(to.size()));
  if (!dequantise(from.type, from.bytes, to))
    throw from.error("expected floating-point elements, got " + std::string(name_of(from.type)));
}

std::string to_string(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (const auto size : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  return text + ']';
}

}  // namespace troupe::llm
