#include "runtime/base/random_bits.hpp"

#include <sys/random.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "runtime/base/hexadecimal.hpp"

namespace troupe::detail {

void fill_random(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const auto got = ::getrandom(bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw std::system_error(errno, std::generic_category(), "getrandom");
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
}

std::array<std::byte, 16> random_bits() {
  std::array<std::byte, 16> bits;
  fill_random(bits);
  return bits;
}

std::uint64_t random_number() {
  std::array<std::byte, sizeof(std::uint64_t)> bytes;
  fill_random(bytes);
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data(), sizeof number);
  return number;
}

std::string random_uuid() {
  auto bits = random_bits();
  bits[6] = (bits[6] & std::byte{0x0F}) | std::byte{0x40};  // the version
  bits[8] = (bits[8] & std::byte{0x3F}) | std::byte{0x80};  // the variant
  auto text = hexadecimal(bits);
  for (const std::size_t at : {8U, 13U, 18U, 23U}) text.insert(at, 1, '-');
  return text;
}

}  // namespace troupe::detail
