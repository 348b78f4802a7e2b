#include <stdexcept>
#include <tuple>

#include "actors/environments/space.hpp"

namespace troupe {

namespace {

using int64s = std::vector<std::int64_t>;

// `parts_of` returns the constructor arguments of each kind, and `make_kind` makes the kind from
// them.

auto parts_of(const spaces::box& s) { return std::tuple(s.low, s.high, s.shape, s.type); }
auto parts_of(const spaces::discrete& s) { return std::tuple(s.n, s.start); }
auto parts_of(const spaces::multi_discrete& s) { return std::tuple(s.n, s.start); }
auto parts_of(const spaces::multi_binary& s) { return std::tuple(s.n); }
auto parts_of(const spaces::text& s) { return std::tuple(s.max_length, s.min_length, s.charset); }
auto parts_of(const spaces::tuple& s) { return std::tuple(s.parts); }
auto parts_of(const spaces::dict& s) { return std::tuple(s.parts); }

/// Returns whether the shape has exactly that many elements.
bool fits(const int64s& shape, std::size_t elements) {
  std::size_t product = 1;
  for (const auto extent : shape) {
    if (extent < 0) return false;
    if (extent == 0) return elements == 0;
    if (product > elements / static_cast<std::size_t>(extent)) return false;
    product *= static_cast<std::size_t>(extent);
  }
  return product == elements;
}

spaces::box make_kind(
    std::tuple<std::vector<float>, std::vector<float>, int64s, spaces::element> p) {
  auto& [low, high, shape, type] = p;
  spaces::box made(std::move(low), std::move(high));
  if (!fits(shape, made.low.size()))
    throw std::invalid_argument("box: expected a shape of as many elements as there are bounds");
  made.shape = std::move(shape);
  made.type = type;
  return made;
}
spaces::discrete make_kind(std::tuple<std::int64_t, std::int64_t> p) {
  return std::make_from_tuple<spaces::discrete>(p);
}
spaces::multi_discrete make_kind(std::tuple<int64s, int64s> p) {
  return std::make_from_tuple<spaces::multi_discrete>(std::move(p));
}
spaces::multi_binary make_kind(std::tuple<std::int64_t> p) {
  return std::make_from_tuple<spaces::multi_binary>(p);
}
spaces::text make_kind(std::tuple<std::int64_t, std::int64_t, std::string> p) {
  return std::make_from_tuple<spaces::text>(std::move(p));
}
spaces::tuple make_kind(std::tuple<std::vector<space>> p) {
  return std::make_from_tuple<spaces::tuple>(std::move(p));
}
spaces::dict make_kind(std::tuple<std::vector<std::pair<std::string, space>>> p) {
  return std::make_from_tuple<spaces::dict>(std::move(p));
}

template <class... Kind>
std::variant<decltype(parts_of(std::declval<Kind>()))...> all_parts(const std::variant<Kind...>&);
/// The constructor arguments of any one of the kinds.
using space_parts = decltype(all_parts(std::declval<space::kind>()));

space_parts parts_of(const space& what) {
  return std::visit([](const auto& kind) { return space_parts(parts_of(kind)); },
                    what.as_variant());
}

using value_variant =
    std::variant<std::int64_t, std::vector<float>, int64s, std::vector<std::uint8_t>, std::string,
                 std::vector<space_value>>;

}  // namespace

std::size_t wire_codec<space>::size(const space& what) { return wire_size(parts_of(what)); }

void wire_codec<space>::write(const space& what, wire_writer& to) { to.write(parts_of(what)); }

space wire_codec<space>::read(wire_reader& from) {
  try {
    return std::visit([](auto&& parts) { return space(make_kind(std::move(parts))); },
                      from.read<space_parts>());
  } catch (const std::invalid_argument& e) {
    from.fail("space", e.what());
  }
}

std::size_t wire_codec<space_value>::size(const space_value& value) {
  return wire_size(static_cast<const value_variant&>(value));
}

void wire_codec<space_value>::write(const space_value& value, wire_writer& to) {
  to.write(static_cast<const value_variant&>(value));
}

space_value wire_codec<space_value>::read(wire_reader& from) {
  space_value value;
  static_cast<value_variant&>(value) = from.read<value_variant>();
  return value;
}

}  // namespace troupe
