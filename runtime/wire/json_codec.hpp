#pragma once
// Encodes JSON values as they are in memory, with the bits of their numbers (a text would lose
// NaN). Include codec.hpp, which includes this file.

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
