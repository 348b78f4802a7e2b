#pragma once
// Gymnasium's spaces as values: they say which observations and which actions an environment has.

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/wire/codec.hpp"

namespace troupe {

class space;

/// One element of a space: an integer (discrete), floats (box), integers (multi_discrete), zeros
/// and ones (multi_binary), text, or one value for each part (tuple in order, dict in order of its
/// keys).
struct space_value
    : std::variant<std::int64_t, std::vector<float>, std::vector<std::int64_t>,
                   std::vector<std::uint8_t>, std::string, std::vector<space_value>> {
  using variant::variant;
};

/// The kinds of space. Their constructors throw std::invalid_argument for invalid bounds or sizes.
namespace spaces {

/// The type of a box's numbers. Both types are stored and sent as floats.
enum class element { float32, uint8 };

/// Numbers in an array of the given shape, row-major, each between its own bounds. An infinite
/// bound means no bound.
struct box {
  box() = default;
  /// Every element has the same bounds.
  box(float low, float high, std::vector<std::int64_t> shape);
  /// Takes the bounds [n] of the elements; the shape is [n].
  box(std::vector<float> low, std::vector<float> high);

  std::vector<float> low, high;
  std::vector<std::int64_t> shape;
  element type = element::float32;
  bool operator==(const box&) const = default;
};

/// Returns a box of bytes 0 .. 255 of shape [channels, height, width], the input of convolutions.
box image(std::int64_t channels, std::int64_t height, std::int64_t width);

/// One of the integers start .. start + n - 1.
struct discrete {
  explicit discrete(std::int64_t n, std::int64_t start = 0);

  std::int64_t n, start;
  bool operator==(const discrete&) const = default;
};

/// Several integers: part i is one of start[i] .. start[i] + n[i] - 1. An empty `start` means
/// zeros.
struct multi_discrete {
  explicit multi_discrete(std::vector<std::int64_t> n, std::vector<std::int64_t> start = {});

  std::vector<std::int64_t> n, start;
  bool operator==(const multi_discrete&) const = default;
};

/// An array of n zeros and ones.
struct multi_binary {
  explicit multi_binary(std::int64_t n);

  std::int64_t n;
  bool operator==(const multi_binary&) const = default;
};

/// A string of min_length .. max_length bytes, each one of `charset`. An empty charset means digits
/// and Latin letters; repeated characters count once.
struct text {
  explicit text(std::int64_t max_length, std::int64_t min_length = 1, std::string charset = {});

  std::int64_t max_length, min_length;
  std::string charset;
  bool operator==(const text&) const = default;
};

/// Several spaces in a fixed order.
struct tuple {
  explicit tuple(std::vector<space> parts);

  std::vector<space> parts;
  bool operator==(const tuple&) const;
};

/// Named spaces, kept in order of their names as Gymnasium does.
struct dict {
  explicit dict(std::vector<std::pair<std::string, space>> parts);

  std::vector<std::pair<std::string, space>> parts;
  bool operator==(const dict&) const;
};

}  // namespace spaces

/// A space of any one kind. A default-constructed space is a box without elements.
class space {
 public:
  using kind = std::variant<spaces::box, spaces::discrete, spaces::multi_discrete,
                            spaces::multi_binary, spaces::text, spaces::tuple, spaces::dict>;
  space() = default;
  template <class S>
    requires(!std::is_same_v<std::remove_cvref_t<S>, space>)
  space(S&& made) : kind_(std::forward<S>(made)) {}  // NOLINT: a kind of space is a space

  /// Returns the space as kind S, or null if it is of another kind.
  template <class S>
  const S* get_if() const {
    return std::get_if<S>(&kind_);
  }
  const kind& as_variant() const { return kind_; }

  bool contains(const space_value& value) const;
  /// Returns the number of floats in a flattened value, as Gymnasium's `flatdim`: discrete parts
  /// are one-hot.
  std::size_t flat_size() const;
  /// Returns the value as floats [flat_size()], as Gymnasium's `flatten`. Throws
  /// std::invalid_argument if the space does not contain it.
  std::vector<float> flatten(const space_value& value) const;
  bool operator==(const space&) const = default;

 private:
  kind kind_;
};

/// Returns the space as Gymnasium prints it: `Discrete(2)`, `Box(-2.0, 2.0, (1,), float32)`.
std::string to_string(const space& what);

/// Sends the arguments that a space was made from. Reading refuses bounds and sizes that are
/// invalid.
template <>
struct wire_codec<space> {
  static constexpr std::size_t bytes_min = 1;
  static std::size_t size(const space& what);
  static void write(const space& what, wire_writer& to);
  static space read(wire_reader& from);
};
template <>
struct wire_codec<space_value> {
  static constexpr std::size_t bytes_min = 1;
  static std::size_t size(const space_value& value);
  static void write(const space_value& value, wire_writer& to);
  static space_value read(wire_reader& from);
};

}  // namespace troupe
