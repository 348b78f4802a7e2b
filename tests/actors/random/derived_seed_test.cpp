#include "actors/random/derived_seed.hpp"

#include <set>

#include "tests/test.hpp"

namespace troupe {
namespace {

TEST_CASE("derived_seed: uses, indices and neighbouring seeds share no seed") {
  std::set<std::uint64_t> seeds;
  std::size_t drawn = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (const auto* use : {"policy", "environments", "polic", ""}) {
      for (std::uint64_t i = 0; i < 50; ++i) {
        seeds.insert(derived_seed(seed, use, {i}));
        seeds.insert(derived_seed(seed, use, {i, 0}));
        drawn += 2;
      }
      seeds.insert(derived_seed(seed, use));
      ++drawn;
    }
  }
  CHECK(seeds.size() == drawn);
}

TEST_CASE("derived_seed: is the same in every build, as what is saved goes on from it") {
  static_assert(derived_seed(1, "policy", {2, 3}) == derived_seed(1, "policy", {2, 3}));
  CHECK(derived_seed(1, "policy", {2, 3}) == 18290774159344618224u);
  CHECK(environment_seed(1, "environments", {0}) == 384432781u);
}

TEST_CASE("environment_seed: lies below 2^31, spread over all of it") {
  std::uint64_t most = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const auto found = environment_seed(seed, "environments");
    CHECK(found < std::uint64_t{1} << 31);
    most = std::max(most, found);
  }
  CHECK(most > std::uint64_t{1} << 30);
}

}  // namespace
}  // namespace troupe
