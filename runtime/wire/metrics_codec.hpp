#pragma once
// Included by codec.hpp, which is what to include.

#include "runtime/wire/codec.hpp"

namespace troupe {

/// The registry of one process arrives as that of the other, which is wire_context's; none as none.
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
