#include "tests/bench/slow_symbols.hpp"

#include "tests/test.hpp"

namespace troupe {
namespace {

TEST_CASE("the slow server: what the asynchronous loop can gain follows from its times") {
  CHECK(slow_symbols::longest(1) == Approx(0.9 / std::log(10.0)).epsilon(1e-6));
  CHECK(async_ceiling(32, 0.4) == Approx(3.34).epsilon(0.002));
  CHECK(barrier_part(32, 0.4) == Approx(2.34).epsilon(0.002));
  CHECK(async_ceiling(8, 0.4) == Approx(2.98).epsilon(0.002));
}

TEST_CASE("the slow server: an update that takes longer than an episode bounds the gain") {
  CHECK(async_ceiling(32, 4.0) == Approx((slow_symbols::longest(32) + 4.0) / 4.0));
  CHECK(barrier_part(32, 4.0) == 1.0);
}

}  // namespace
}  // namespace troupe
