#include "actors/environments/space.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace troupe {
namespace spaces {
namespace {

void require(bool held, const std::string& message) {
  if (!held) throw std::invalid_argument(message);
}

std::size_t elements(const std::vector<std::int64_t>& shape) {
  std::size_t count = 1;
  for (auto extent : shape) {
    require(extent >= 0,
            fmt::format("box: expected extents >= 0, got ({})", fmt::join(shape, ", ")));
    count *= static_cast<std::size_t>(extent);
  }
  return count;
}

void check_bounds(const box& made) {
  require(made.low.size() == made.high.size(),
          fmt::format("box: expected as many low as high bounds, got {} and {}", made.low.size(),
                      made.high.size()));
  for (std::size_t i = 0; i < made.low.size(); ++i)
    require(made.low[i] <= made.high[i],  // false for NaN too
            fmt::format("box: expected low <= high at element {}, got {} and {}", i, made.low[i],
                        made.high[i]));
}

}  // namespace

box::box(float low, float high, std::vector<std::int64_t> shape)
    : low(elements(shape), low), high(elements(shape), high), shape(std::move(shape)) {
  check_bounds(*this);
}

box::box(std::vector<float> low, std::vector<float> high)
    : low(std::move(low)),
      high(std::move(high)),
      shape{static_cast<std::int64_t>(this->low.size())} {
  check_bounds(*this);
}

box image(std::int64_t channels, std::int64_t height, std::int64_t width) {
  box bytes(0.0F, 255.0F, {channels, height, width});
  bytes.type = element::uint8;
  return bytes;
}

discrete::discrete(std::int64_t n, std::int64_t start) : n(n), start(start) {
  require(n > 0, fmt::format("discrete: expected n > 0, got {}", n));
}

multi_discrete::multi_discrete(std::vector<std::int64_t> n, std::vector<std::int64_t> start)
    : n(std::move(n)), start(std::move(start)) {
  if (this->start.empty()) this->start.resize(this->n.size(), 0);
  require(this->start.size() == this->n.size(),
          fmt::format("multi_discrete: expected a start for each of {} parts, got {}",
                      this->n.size(), this->start.size()));
  for (auto count : this->n)
    require(count > 0, fmt::format("multi_discrete: expected every n > 0, got {}", count));
}

multi_binary::multi_binary(std::int64_t n) : n(n) {
  require(n > 0, fmt::format("multi_binary: expected n > 0, got {}", n));
}

text::text(std::int64_t max_length, std::int64_t min_length, std::string charset)
    : max_length(max_length), min_length(min_length) {
  require(0 <= min_length && min_length <= max_length,
          fmt::format("text: expected 0 <= min_length <= max_length, got {} and {}", min_length,
                      max_length));
  if (charset.empty()) charset = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  for (char c : charset)
    if (this->charset.find(c) == std::string::npos) this->charset += c;
}

tuple::tuple(std::vector<space> parts) : parts(std::move(parts)) {}

dict::dict(std::vector<std::pair<std::string, space>> parts) : parts(std::move(parts)) {
  auto by_name = [](const auto& a, const auto& b) { return a.first < b.first; };
  std::sort(this->parts.begin(), this->parts.end(), by_name);
  for (std::size_t i = 1; i < this->parts.size(); ++i)
    require(this->parts[i - 1].first != this->parts[i].first,
            fmt::format("dict: expected names once, got \"{}\" twice", this->parts[i].first));
}

bool tuple::operator==(const tuple&) const = default;
bool dict::operator==(const dict&) const = default;

}  // namespace spaces

namespace {

// Returns the space of one part, for tuples and dicts alike.
const space& part(const space& of) { return of; }
const space& part(const std::pair<std::string, space>& of) { return of.second; }

struct containment {
  const space_value& value;

  template <class T>
  const T* as() const {
    return std::get_if<T>(&value);
  }

  bool operator()(const spaces::box& of) const {
    const auto* floats = as<std::vector<float>>();
    if (floats == nullptr || floats->size() != of.low.size()) return false;
    for (std::size_t i = 0; i < floats->size(); ++i)
      if (!((*floats)[i] >= of.low[i] && (*floats)[i] <= of.high[i])) return false;
    const auto is_whole = [](float number) { return number == std::trunc(number); };
    return of.type != spaces::element::uint8 || std::ranges::all_of(*floats, is_whole);
  }
  bool operator()(const spaces::discrete& of) const {
    const auto* integer = as<std::int64_t>();
    return integer != nullptr && *integer >= of.start && *integer - of.start < of.n;
  }
  bool operator()(const spaces::multi_discrete& of) const {
    const auto* integers = as<std::vector<std::int64_t>>();
    if (integers == nullptr || integers->size() != of.n.size()) return false;
    for (std::size_t i = 0; i < of.n.size(); ++i)
      if ((*integers)[i] < of.start[i] || (*integers)[i] - of.start[i] >= of.n[i]) return false;
    return true;
  }
  bool operator()(const spaces::multi_binary& of) const {
    const auto* bits = as<std::vector<std::uint8_t>>();
    return bits != nullptr && bits->size() == static_cast<std::size_t>(of.n) &&
           std::all_of(bits->begin(), bits->end(), [](auto bit) { return bit <= 1; });
  }
  bool operator()(const spaces::text& of) const {
    const auto* string = as<std::string>();
    if (string == nullptr) return false;
    const auto length = static_cast<std::int64_t>(string->size());
    return length >= of.min_length && length <= of.max_length &&
           string->find_first_not_of(of.charset) == std::string::npos;
  }
  bool operator()(const auto& of) const {
    const auto* values = as<std::vector<space_value>>();
    if (values == nullptr || values->size() != of.parts.size()) return false;
    for (std::size_t i = 0; i < values->size(); ++i)
      if (!part(of.parts[i]).contains((*values)[i])) return false;
    return true;
  }
};

struct flat_counter {
  std::size_t operator()(const spaces::box& of) const { return of.low.size(); }
  std::size_t operator()(const spaces::discrete& of) const {
    return static_cast<std::size_t>(of.n);
  }
  std::size_t operator()(const spaces::multi_discrete& of) const {
    std::size_t count = 0;
    for (auto n : of.n) count += static_cast<std::size_t>(n);
    return count;
  }
  std::size_t operator()(const spaces::multi_binary& of) const {
    return static_cast<std::size_t>(of.n);
  }
  std::size_t operator()(const spaces::text& of) const {
    return static_cast<std::size_t>(of.max_length);
  }
  std::size_t operator()(const auto& of) const {
    std::size_t count = 0;
    for (const auto& each : of.parts) count += part(each).flat_size();
    return count;
  }
};

// Appends a value to `flat`. The space is known to contain the value.
struct flattener {
  const space_value& value;
  std::vector<float>& flat;

  void one_hot(std::int64_t index, std::int64_t n) const {
    const auto begin = flat.size();
    flat.resize(begin + static_cast<std::size_t>(n), 0.0F);
    flat[begin + static_cast<std::size_t>(index)] = 1.0F;
  }
  void operator()(const spaces::box&) const {
    const auto& floats = std::get<std::vector<float>>(value);
    flat.insert(flat.end(), floats.begin(), floats.end());
  }
  void operator()(const spaces::discrete& of) const {
    one_hot(std::get<std::int64_t>(value) - of.start, of.n);
  }
  void operator()(const spaces::multi_discrete& of) const {
    const auto& integers = std::get<std::vector<std::int64_t>>(value);
    for (std::size_t i = 0; i < of.n.size(); ++i) one_hot(integers[i] - of.start[i], of.n[i]);
  }
  void operator()(const spaces::multi_binary&) const {
    for (auto bit : std::get<std::vector<std::uint8_t>>(value)) flat.push_back(bit);
  }
  // Each character becomes its index in the charset. The places up to max_length are filled with
  // the charset's size.
  void operator()(const spaces::text& of) const {
    const auto& string = std::get<std::string>(value);
    for (char c : string) flat.push_back(static_cast<float>(of.charset.find(c)));
    flat.resize(flat.size() + static_cast<std::size_t>(of.max_length) - string.size(),
                static_cast<float>(of.charset.size()));
  }
  void operator()(const auto& of) const {
    const auto& values = std::get<std::vector<space_value>>(value);
    for (std::size_t i = 0; i < values.size(); ++i)
      std::visit(flattener{values[i], flat}, part(of.parts[i]).as_variant());
  }
};

// Prints a number as Python does: a float always has a point or a name, so that 2 and 2.0 differ.
std::string number_text(float number, spaces::element type) {
  auto text = fmt::format("{}", number);
  if (type == spaces::element::uint8) return text;
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

std::string bounds_text(const std::vector<float>& bounds, spaces::element type) {
  const bool all_equal = std::all_of(bounds.begin(), bounds.end(),
                                     [&](float bound) { return bound == bounds.front(); });
  if (!bounds.empty() && all_equal) return number_text(bounds.front(), type);
  std::vector<std::string> texts;
  for (float bound : bounds) texts.push_back(number_text(bound, type));
  return fmt::format("[{}]", fmt::join(texts, " "));
}

struct printer {
  std::string operator()(const spaces::box& of) const {
    return fmt::format("Box({}, {}, ({}{}), {})", bounds_text(of.low, of.type),
                       bounds_text(of.high, of.type), fmt::join(of.shape, ", "),
                       of.shape.size() == 1 ? "," : "",
                       of.type == spaces::element::uint8 ? "uint8" : "float32");
  }
  std::string operator()(const spaces::discrete& of) const {
    return of.start == 0 ? fmt::format("Discrete({})", of.n)
                         : fmt::format("Discrete({}, start={})", of.n, of.start);
  }
  std::string operator()(const spaces::multi_discrete& of) const {
    const bool shifted = std::any_of(of.start.begin(), of.start.end(), [](auto s) { return s; });
    return fmt::format("MultiDiscrete([{}]{})", fmt::join(of.n, " "),
                       shifted ? fmt::format(", start=[{}]", fmt::join(of.start, " ")) : "");
  }
  std::string operator()(const spaces::multi_binary& of) const {
    return fmt::format("MultiBinary({})", of.n);
  }
  std::string operator()(const spaces::text& of) const {
    return fmt::format("Text({}, {}, charset={})", of.min_length, of.max_length, of.charset);
  }
  std::string operator()(const spaces::tuple& of) const {
    std::vector<std::string> parts;
    for (const auto& each : of.parts) parts.push_back(to_string(each));
    return fmt::format("Tuple({})", fmt::join(parts, ", "));
  }
  std::string operator()(const spaces::dict& of) const {
    std::vector<std::string> parts;
    for (const auto& [name, each] : of.parts)
      parts.push_back(fmt::format("'{}': {}", name, to_string(each)));
    return fmt::format("Dict({})", fmt::join(parts, ", "));
  }
};

}  // namespace

bool space::contains(const space_value& value) const {
  return std::visit(containment{value}, kind_);
}

std::size_t space::flat_size() const { return std::visit(flat_counter{}, kind_); }

std::vector<float> space::flatten(const space_value& value) const {
  if (!contains(value))
    throw std::invalid_argument("flatten: expected a value of " + to_string(*this) +
                                ", got one outside of it");
  std::vector<float> flat;
  flat.reserve(flat_size());
  std::visit(flattener{value, flat}, kind_);
  return flat;
}

std::string to_string(const space& what) { return std::visit(printer{}, what.as_variant()); }

}  // namespace troupe
