#include "runtime/base/usable_descriptors.hpp"

#include "tests/test.hpp"

namespace troupe::detail {

TEST_CASE("usable descriptors: a server has at most an eighth of them, and a few in any case") {
  CHECK(bounded_connections(64, 1024, 4) == 64);
  CHECK(bounded_connections(64, 256, 4) == 32);
  CHECK(bounded_connections(64, 70, 4) == 8);
  CHECK(bounded_connections(64, 20, 4) == 4);
  CHECK(bounded_connections(3, 20, 4) == 3);
  CHECK(bounded_connections(64, std::nullopt, 4) == 64);
}

}  // namespace troupe::detail
