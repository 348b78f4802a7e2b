#include "actors/openenv/server/input_numbers.hpp"

#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>

namespace troupe::openenv_server {

namespace {

using nlohmann::json;

template <class Number>
std::optional<Number> parsed(const std::string& text) {
  Number number{};
  const auto* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end) return {};
  return number;
}

bool within(std::int64_t number, std::int64_t low, std::int64_t high, const json& value,
            const input_errors::place& at, input_errors& errors) {
  if (number < low) {
    errors.add("greater_than_equal", at,
               "Input should be greater than or equal to " + json(low).dump(), value,
               {{"ge", low}});
  } else if (number > high) {
    errors.add("less_than_equal", at, "Input should be less than or equal to " + json(high).dump(),
               value, {{"le", high}});
  } else {
    return true;
  }
  return false;
}

std::optional<std::int64_t> integer_of(const json& value, const input_errors::place& at,
                                       input_errors& errors) {
  constexpr double too_large = 9223372036854775808.0;  // 2^63
  if (value.is_number_unsigned() &&
      value.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
    errors.add("int_parsing_size", at, "Unable to parse input as an integer, exceeded maximum size",
               value);
    return {};
  }
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_float()) {
    const auto number = value.get<double>();
    if (number == std::trunc(number) && std::abs(number) < too_large)
      return static_cast<std::int64_t>(number);
    errors.add("int_from_float", at,
               "Input should be a valid integer, got a number with a fractional part", value);
    return {};
  }
  if (value.is_string()) {
    if (const auto number = parsed<std::int64_t>(value.get_ref<const std::string&>()))
      return number;
    errors.add("int_parsing", at,
               "Input should be a valid integer, unable to parse string as an integer", value);
    return {};
  }
  errors.add("int_type", at, "Input should be a valid integer", value);
  return {};
}

}  // namespace

std::optional<std::int64_t> read_integer(const json& value, std::int64_t first, std::int64_t last,
                                         const input_errors::place& at, input_errors& errors) {
  const auto number = integer_of(value, at, errors);
  if (!number || !within(*number, first, last, value, at, errors)) return {};
  return number;
}

std::optional<float> read_float(const json& value, const input_errors::place& at,
                                input_errors& errors) {
  float number = 0;
  if (value.is_number()) {
    number = value.get<float>();
  } else if (value.is_string()) {
    const auto read = parsed<float>(value.get_ref<const std::string&>());
    if (!read) {
      errors.add("float_parsing", at,
                 "Input should be a valid number, unable to parse string as a number", value);
      return {};
    }
    number = *read;
  } else {
    errors.add("float_type", at, "Input should be a valid number", value);
    return {};
  }
  if (!std::isfinite(number)) {
    errors.add("finite_number", at, "Input should be a finite number", value);
    return {};
  }
  return number;
}

}  // namespace troupe::openenv_server
