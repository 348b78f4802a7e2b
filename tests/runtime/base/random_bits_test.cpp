#include "runtime/base/random_bits.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <string>

#include "tests/test.hpp"

namespace troupe::detail {
namespace {

TEST_CASE("random bits: every bit of an id is drawn anew") {
  std::array<std::byte, 16> either{}, both;
  both.fill(std::byte{0xFF});
  for (int i = 0; i < 200; ++i) {
    const auto drawn = random_bits();
    for (std::size_t k = 0; k < drawn.size(); ++k) {
      either[k] |= drawn[k];
      both[k] &= drawn[k];
    }
  }
  // A bit that stays the same 200 times is not random.
  CHECK(std::ranges::all_of(either, [](std::byte b) { return b == std::byte{0xFF}; }));
  CHECK(std::ranges::all_of(both, [](std::byte b) { return b == std::byte{0}; }));
}

TEST_CASE("random bits: ids have the form of UUIDs of version 4 and differ") {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const auto id = random_uuid();
    REQUIRE(id.size() == 36);
    for (std::size_t k = 0; k < id.size(); ++k) {
      const bool is_dash = k == 8 || k == 13 || k == 18 || k == 23;
      CHECK((is_dash ? id[k] == '-'
                     : std::string("0123456789abcdef").find(id[k]) != std::string::npos));
    }
    CHECK(id[14] == '4');
    CHECK(std::string("89ab").find(id[19]) != std::string::npos);
    seen.insert(id);
  }
  CHECK(seen.size() == 1000);
}

TEST_CASE("random bits: no bit of an id but those of its version repeats") {
  std::set<char> digits;
  std::set<std::string> nodes;
  for (int i = 0; i < 200; ++i) {
    const auto id = random_uuid();
    digits.insert(id[0]);
    nodes.insert(id.substr(24));
  }
  CHECK(digits.size() == 16);
  CHECK(nodes.size() == 200);
}

TEST_CASE("random bits: numbers are drawn anew") { CHECK(random_number() != random_number()); }

TEST_CASE("random bits: they come from no state that a copy of the process has, too") {
  random_uuid();  // a generator with a seed would have its state now
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto id = random_uuid();
    const bool told = ::write(ends[1], id.data(), id.size()) == 36;
    ::_exit(told ? 0 : 1);
  }
  std::string theirs(36, '\0');
  CHECK(::read(ends[0], theirs.data(), theirs.size()) == 36);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  ::close(ends[0]);
  ::close(ends[1]);
  CHECK(status == 0);
  CHECK(random_uuid() != theirs);
}

}  // namespace
}  // namespace troupe::detail
