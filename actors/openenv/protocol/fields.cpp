#include "actors/openenv/protocol/fields.hpp"

#include <cmath>

#include "runtime/config/json_text.hpp"

namespace troupe::openenv::detail {

using nlohmann::json;

std::string place::text() const {
  const std::string own = key ? key : std::to_string(index);
  return in ? in->text() + '/' + own : own;
}

void refuse(const place& at, const std::string& expected, const json& got) {
  throw bad_text(text_fault::wrong_type,
                 at.text() + ": expected " + expected + ", got " + troupe::detail::show(got));
}

void read_value(const json& from, bool& to, const place& at) {
  if (!from.is_boolean()) refuse(at, "a boolean", from);
  to = from.get<bool>();
}

void read_value(const json& from, double& to, const place& at) {
  if (!from.is_number()) refuse(at, "a number", from);
  to = from.get<double>();
}

void read_value(const json& from, float& to, const place& at) {
  if (!from.is_number()) refuse(at, "a number", from);
  to = from.get<float>();
  if (!std::isfinite(to)) refuse(at, "a number that a 32-bit float has (at most 3.4e+38)", from);
}

void read_value(const json& from, std::string& to, const place& at) {
  if (!from.is_string()) refuse(at, "a text", from);
  to = from.get_ref<const std::string&>();
}

std::int64_t read_integer(const json& from, std::int64_t lowest, std::int64_t highest,
                          const place& at) {
  const bool fits = from.is_number_integer() &&
                    (!from.is_number_unsigned() ||
                     from.get<std::uint64_t>() <=
                         static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
  const auto value = fits ? from.get<std::int64_t>() : 0;
  if (!fits || value < lowest || value > highest)
    refuse(at, "a whole number from " + std::to_string(lowest) + " to " + std::to_string(highest),
           from);
  return value;
}

}  // namespace troupe::openenv::detail
