#include "runtime/process/socket_link.hpp"

#include <algorithm>

#include "tests/runtime/process/support.hpp"
#include "tests/test.hpp"

namespace troupe::detail {
namespace {

void fill(block& what, unsigned seed) {
  for (std::size_t i = 0; i < what.size(); ++i) {
    what.data()[i] = static_cast<std::byte>((i * 2654435761u + seed) >> 13);
  }
}

bool equal(const block& a, const block& b) { return std::ranges::equal(a.bytes(), b.bytes()); }

TEST_CASE("socket link: blocks of every size arrive whole, in order, by socket and shared memory") {
  player echo("echo");
  const bool shared = GENERATE(false, true);
  std::vector<block> sent;
  for (const std::size_t size :
       {1, 23, 24, 25, 16383, 65535, 65536, 65537, 1 << 20, 5'000'001, 7}) {
    const auto make = [&] { return shared ? echo.process.way()->allocate(size) : block(size); };
    block message = make(), copy(size);
    fill(message, static_cast<unsigned>(size));
    fill(copy, static_cast<unsigned>(size));
    sent.push_back(std::move(copy));
    echo.process.way()->send(std::move(message), priority::normal);
  }
  for (const auto& expected : sent) CHECK(equal(echo.heard->next(), expected));
}

}  // namespace
}  // namespace troupe::detail
