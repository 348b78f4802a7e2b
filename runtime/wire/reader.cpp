#include "runtime/wire/reader.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>

#include "runtime/wire/wire_error.hpp"
#include "runtime/wire/writer.hpp"

namespace troupe {

std::size_t wire_reader::count(std::size_t bytes_min, std::string_view type) {
  std::uint64_t announced;
  std::memcpy(&announced, bytes(sizeof announced, type).data(), sizeof announced);
  const auto possible = bytes_min > 0 ? left() / bytes_min : empty_elements_max;
  if (announced > possible) {
    fail(type,
         fmt::format("{} elements are announced, but at most {} can come", announced, possible));
  }
  return static_cast<std::size_t>(announced);
}

metrics_registry& wire_reader::metrics(std::string_view type) const {
  if (context_.metrics == nullptr) fail(type, "there is no metrics_registry here to count in");
  return *context_.metrics;
}

void wire_reader::fail(std::string_view type, const std::string& why) const {
  throw wire_error(fmt::format("{} at byte {}: {}", type, offset(), why));
}

void wire_reader::finish(std::string_view type) const {
  if (left() > 0) fail(type, fmt::format("its end, but {} bytes are left", left()));
}

void wire_reader::throw_short(std::size_t size, std::string_view type) const {
  fail(type, fmt::format("expected {} bytes, {} are left", size, left()));
}

void wire_reader::throw_deep(std::string_view type) const {
  fail(type, fmt::format("more than {} values within each other", depth_max));
}

void wire_reader::throw_empty(std::string_view type) const {
  fail(type, fmt::format("more than {} elements without a byte", empty_elements_max));
}

void wire_writer::throw_full(std::size_t size) const {
  throw std::logic_error(fmt::format(
      "a value has changed while it was encoded: expected room for {} bytes, {} are left", size,
      left()));
}

}  // namespace troupe
