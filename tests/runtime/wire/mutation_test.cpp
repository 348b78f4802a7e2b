// Real messages with seeded damage: each is refused, or is a value of which the same bytes can be
// made. Under the address sanitizer it is shown that no bytes lead to undefined behaviour.

#include <algorithm>

#include "runtime/actor/splitmix.hpp"
#include "runtime/base/error.hpp"
#include "tests/runtime/wire/wire_values.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using wire_values::everything;
using wire_values::one_of_each;

class mutator {
 public:
  explicit mutator(std::uint64_t seed) : state_(seed) {}

  std::vector<std::byte> damage(std::vector<std::byte> bytes) {
    for (auto faults = 1 + draw(3); faults > 0; --faults) damage_once(bytes);
    return bytes;
  }

 private:
  std::size_t draw(std::size_t n) { return n == 0 ? 0 : detail::next_of(state_) % n; }

  void damage_once(std::vector<std::byte>& bytes) {
    const auto at = draw(bytes.size());
    const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    switch (draw(6)) {
      case 0:  // one bit
        if (!bytes.empty()) bytes[at] ^= std::byte{1} << draw(8);
        return;
      case 1:  // one byte
        if (!bytes.empty()) bytes[at] = static_cast<std::byte>(draw(256));
        return;
      case 2:  // a count, or an index
        return write_number(bytes, at);
      case 3:  // cut off
        bytes.resize(at);
        return;
      case 4:  // some bytes are lost
        bytes.erase(place, place + static_cast<std::ptrdiff_t>(draw(bytes.size() - at)));
        return;
      default: {  // some come twice
        const std::vector<std::byte> again(
            place, place + static_cast<std::ptrdiff_t>(
                               draw(std::min<std::size_t>(bytes.size() - at, 64))));
        bytes.insert(place, again.begin(), again.end());
      }
    }
  }

  void write_number(std::vector<std::byte>& bytes, std::size_t at) {
    const std::uint64_t numbers[] = {0,
                                     1,
                                     2,
                                     255,
                                     1u << 20,
                                     1u << 31,
                                     ~std::uint64_t{0},
                                     std::uint64_t{1} << 62,
                                     bytes.size(),
                                     bytes.size() - at};
    const auto number = numbers[draw(std::size(numbers))];
    if (bytes.size() >= at + sizeof number) std::memcpy(&bytes[at], &number, sizeof number);
  }

  std::uint64_t state_;
};

template <class T>
std::vector<std::byte> bytes_of(const T& value) {
  const auto encoded = detail::encode(value);
  return {encoded.data(), encoded.data() + encoded.size()};
}

struct tally {
  std::size_t bytes = 0, refused = 0, taken = 0;
};

/// Decodes damaged messages until `total` bytes have been.
template <class T, class Check>
tally decode_damaged(const T& value, std::size_t total, Check check) {
  const auto whole = bytes_of(value);
  mutator random(1);
  tally seen;
  while (seen.bytes < total) {
    const auto bytes = random.damage(whole);
    seen.bytes += bytes.size() + 1;
    try {
      check(detail::decode<T>(bytes), bytes);
      ++seen.taken;
    } catch (const wire_error&) {
      ++seen.refused;
    }
  }
  return seen;
}

TEST_CASE("codec: of ten million bytes of damaged messages each is refused or a value") {
  std::size_t unlike = 0;
  const auto seen = decode_damaged(
      one_of_each(), 10'000'000, [&](const everything& value, const std::vector<std::byte>& bytes) {
        if (wire_size(value) != bytes.size()) ++unlike;
      });
  CHECK(unlike == 0);
  CHECK(seen.refused > 1000);
  CHECK(seen.taken > 1000);
}

TEST_CASE(
    "codec: of a million bytes of damaged exceptions each is refused or one that crosses again") {
  const auto cause = std::make_exception_ptr(std::out_of_range("row 7"));
  const auto error = std::make_exception_ptr(role_error("policy[1]::act", cause));
  std::size_t lost = 0;
  const auto seen = decode_damaged(
      error, 1'000'000, [&](const std::exception_ptr& made, const std::vector<std::byte>&) {
        if ((made == nullptr) != (wire_values::there_and_back(made) == nullptr)) ++lost;
      });
  CHECK(lost == 0);
  CHECK(seen.refused > 1000);
  CHECK(seen.taken > 1000);
}

}  // namespace
}  // namespace troupe
