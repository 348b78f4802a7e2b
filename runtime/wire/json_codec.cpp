#include "runtime/wire/json_codec.hpp"

#include <nlohmann/json.hpp>
#include <optional>
#include <variant>
#include <vector>

namespace troupe {

namespace {

using nlohmann::json;
using kind = json::value_t;

struct binary {
  std::vector<std::uint8_t> bytes;
  std::optional<std::uint64_t> subtype;
};

binary parts_of(const json::binary_t& value) {
  binary parts{value, std::nullopt};
  if (value.has_subtype()) parts.subtype = value.subtype();
  return parts;
}

/// Calls `use` with the content of `value`, in its own type.
template <class Use>
auto with_content(const json& value, Use use) {
  switch (value.type()) {
    case kind::null:
      return use(std::monostate());
    case kind::boolean:
      return use(value.get_ref<const bool&>());
    case kind::number_integer:
      return use(value.get_ref<const std::int64_t&>());
    case kind::number_unsigned:
      return use(value.get_ref<const std::uint64_t&>());
    case kind::number_float:
      return use(value.get_ref<const double&>());
    case kind::string:
      return use(value.get_ref<const std::string&>());
    case kind::binary:
      return use(parts_of(value.get_binary()));
    case kind::array:
      return use(value.get_ref<const json::array_t&>());
    case kind::object:
      return use(value.get_ref<const json::object_t&>());
    case kind::discarded:
      break;
  }
  throw wire_error("nlohmann::json: a discarded value can't be encoded");
}

json read_binary(wire_reader& from) {
  auto parts = from.read<binary>();
  if (parts.subtype) return json::binary(std::move(parts.bytes), *parts.subtype);
  return json::binary(std::move(parts.bytes));
}

}  // namespace

std::size_t wire_codec<json>::size(const json& value) {
  return wire_size(value.type()) +
         with_content(value, [](const auto& content) { return wire_size(content); });
}

void wire_codec<json>::write(const json& value, wire_writer& to) {
  to.write(value.type());
  with_content(value, [&](const auto& content) { to.write(content); });
}

json wire_codec<json>::read(wire_reader& from) {
  switch (from.read<kind>()) {
    case kind::null:
      return nullptr;
    case kind::boolean:
      return from.read<bool>();
    case kind::number_integer:
      return from.read<std::int64_t>();
    case kind::number_unsigned:
      return from.read<std::uint64_t>();
    case kind::number_float:
      return from.read<double>();
    case kind::string:
      return from.read<std::string>();
    case kind::binary:
      return read_binary(from);
    case kind::array:
      return from.read<json::array_t>();
    case kind::object:
      return from.read<json::object_t>();
    case kind::discarded:
      break;
  }
  from.fail("nlohmann::json", "a discarded value");
}

}  // namespace troupe
