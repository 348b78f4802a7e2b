#pragma once
// Encodes pointers to a metrics registry. Include codec.hpp, which includes this file.

#include "runtime/wire/codec.hpp"

namespace troupe {

/// A registry isn't sent: the receiver gets the registry of its own process, which is in
/// wire_context. A null pointer stays null.
template <>
struct wire_codec<metrics_registry*> {
  static constexpr std::size_t bytes_min = 1;
  static std::size_t size(const metrics_registry*) { return 1; }
  static void write(const metrics_registry* registry, wire_writer& to) {
    to.write(registry != nullptr);
  }
  static metrics_registry* read(wire_reader& from) {
    return from.read<bool>() ? &from.metrics("troupe::metrics_registry*") : nullptr;
  }
};

}  // namespace troupe
