#include "actors/replay/sample_info.hpp"

#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using testing::has_text;

sample_info drawn(double probability, std::int64_t table_size = 4) {
  return {.probability = probability, .table_size = table_size};
}

}  // namespace

TEST_CASE("importance_weights: equals numbers worked out by hand") {
  // N P = 2, 1, 0.5; to the power -1: 0.5, 1, 2; over their maximum: 0.25, 0.5, 1.
  const std::vector<sample_info> samples{drawn(0.5), drawn(0.25), drawn(0.125)};
  const auto full = importance_weights(samples, 1);
  CHECK(full[0] == Approx(0.25));
  CHECK(full[1] == Approx(0.5));
  CHECK(full[2] == Approx(1));
  // To the power -1/2 all of them are square roots.
  const auto half = importance_weights(samples, 0.5);
  CHECK(half[0] == Approx(0.5));
  CHECK(half[1] == Approx(std::sqrt(0.5)));
  CHECK(importance_weights(samples, 0) == std::vector<double>{1, 1, 1});
}

TEST_CASE("importance_weights: a probability next to nothing gives no infinity") {
  const std::vector<sample_info> samples{drawn(5e-324), drawn(1)};
  const auto weights = importance_weights(samples, 1);
  CHECK(weights[0] == 1);
  CHECK(weights[1] >= 0);
  CHECK(weights[1] < 1e-300);
}

TEST_CASE("importance_weights: refuses what is no beta and no probability") {
  const std::vector<sample_info> bad{drawn(0)};
  CHECK_THROWS_WITH(importance_weights({}, 1.5), has_text("within 0 .. 1, got 1.5"));
  CHECK_THROWS_AS(importance_weights({}, std::nan("")), std::invalid_argument);
  CHECK_THROWS_WITH(importance_weights(bad, 1), has_text("expected a probability"));
  CHECK(importance_weights({}, 1).empty());
}

}  // namespace troupe
