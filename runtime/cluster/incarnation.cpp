#include "runtime/cluster/incarnation.hpp"

#include <charconv>

#include "runtime/base/hexadecimal.hpp"
#include "runtime/base/random_bits.hpp"

namespace troupe::detail {

incarnation incarnation::random() { return {.bits = random_bits()}; }

std::optional<incarnation> incarnation::parse(std::string_view text) {
  incarnation read;
  if (text.size() != 2 * read.bits.size()) return {};
  for (std::size_t i = 0; i < read.bits.size(); ++i) {
    unsigned value = 0;
    const char* const first = text.data() + 2 * i;
    const auto [end, error] = std::from_chars(first, first + 2, value, 16);
    if (error != std::errc{} || end != first + 2) return {};
    read.bits[i] = static_cast<std::byte>(value);
  }
  return read;
}

std::string to_string(const incarnation& of) { return hexadecimal(of.bits); }

}  // namespace troupe::detail
