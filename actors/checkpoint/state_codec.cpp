#include "actors/checkpoint/state_codec.hpp"

#include <array>

#include "runtime/base/utf8.hpp"

namespace troupe::detail {

namespace {

constexpr std::array<char, 8> magic{'t', 'r', 'p', 's', 't', 'a', 't', 'e'};

struct state_header {
  std::array<char, 8> magic;
  std::uint64_t layout;
  std::string type;
};

}  // namespace

std::string begin_state(state_type type, std::size_t value_size) {
  const state_header header{magic, type.layout, std::string(type.name)};
  const auto encoded = encode(header);
  std::string bytes;
  bytes.reserve(encoded.size() + value_size);
  bytes.assign(reinterpret_cast<const char*>(encoded.data()), encoded.size());
  return bytes;
}

std::span<const std::byte> value_in(std::string_view bytes, state_type expected) {
  const auto all = std::as_bytes(std::span(bytes));
  wire_reader from(all);
  state_header header{};
  try {
    header = from.read<state_header>();
  } catch (const wire_error&) {
  }
  if (header.magic != magic) {
    refuse_state(expected.name,
                 "expected one, got " + std::to_string(bytes.size()) + " bytes that are none");
  }
  if (header.type != expected.name) {
    refuse_state(expected.name, "expected one, got that of a " + printable(header.type, 100));
  }
  if (header.layout != expected.layout) {
    refuse_state(expected.name,
                 "expected the members that it has in this version of the program, got others");
  }
  return all.subspan(from.offset());
}

void refuse_state(std::string_view type, std::string_view why) {
  throw state_error("saved state of " + std::string(type) + ": " + std::string(why));
}

}  // namespace troupe::detail
