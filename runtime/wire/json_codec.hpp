#pragma once
// JSON values cross as they are in memory, numbers with their bits (as text NaN would be lost).
// Included by codec.hpp, which is what to include.

#include <nlohmann/json_fwd.hpp>

#include "runtime/wire/codec.hpp"

namespace troupe {

template <>
struct wire_codec<nlohmann::json> {
  static constexpr std::size_t bytes_min = 1;
  static std::size_t size(const nlohmann::json& value);
  static void write(const nlohmann::json& value, wire_writer& to);
  static nlohmann::json read(wire_reader& from);
};

}  // namespace troupe
