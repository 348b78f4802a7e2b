#include "actors/torch/torch.hpp"

#include <nlohmann/json.hpp>

#include "algorithms/off_policy/dqn/dqn.hpp"
#include "algorithms/off_policy/sac/sac.hpp"
#include "algorithms/off_policy/td3/td3.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

template <class Config>
Config parse(const std::vector<std::string>& overrides) {
  return parse_config<Config>(load_config({}, overrides));
}

TEST_CASE("off-policy config: what the options of replay and trainer come to") {
  CHECK_FALSE(parse<sac_config>({}).replay.prioritised);
  const auto defaults = parse<sac_config>({"replay.prioritised={}"}).replay.prioritised;
  REQUIRE(defaults);
  CHECK(defaults->alpha == 0.6);
  CHECK(defaults->beta == 0.4);
  CHECK(defaults->beta_end == 1);
  const auto c = parse<dqn_config>({"replay.prioritised.alpha=0.7", "trainer.dueling=true",
                                    "trainer.double_q=true", "env.normalize_obs=true"});
  CHECK(c.replay.prioritised.value().alpha == 0.7);
  CHECK(algorithm_with(c).settings.network.kind == network_kind::dueling_q_values);
  CHECK(algorithm_with(c).settings.network.normalize_obs);
  CHECK(parse<dqn_config>({"deterministic=true", "faults=random"}).faults == "random");
}

TEST_CASE("off-policy config: the capacity is a million, or fewer if max_bytes holds fewer") {
  const auto c = parse<dqn_config>({"replay.max_bytes=1000000"});
  CHECK(c.replay.capacity_for(100) == 10'000);
  CHECK(c.replay.capacity_for(999) == 1001);
  CHECK(parse<dqn_config>({}).replay.capacity_for(100) == 1'000'000);
  CHECK(parse<dqn_config>({"replay.capacity=5000"}).replay.capacity_for(1 << 20) == 5000);
  // Four stacked frames of 84x84 fit by default.
  CHECK_NOTHROW(
      algorithm_with(parse<dqn_config>({"env.id=Catch-v0", "env.frame_stack=4"})).check());
}

TEST_CASE("off-policy config: what does not fit together is refused") {
  CHECK_THROWS_WITH(parse<sac_config>({"replay.capacity=255"}),
                    "/replay/capacity: expected at least trainer.batch_size, 256, got 255");
  CHECK_NOTHROW(parse<sac_config>({"replay.capacity=256"}));
  CHECK_THROWS_WITH(
      algorithm_with(parse<sac_config>({"replay.max_bytes=10", "replay.capacity=1000000"})).check(),
      Catch::StartsWith("/replay/max_bytes: expected at least ") &&
          Catch::Contains("replay.capacity of 1000000 transitions of ") &&
          Catch::EndsWith(", got 10"));
  CHECK_THROWS_WITH(algorithm_with(parse<sac_config>({"replay.max_bytes=10"})).check(),
                    Catch::StartsWith("/replay/max_bytes: expected at least ") &&
                        Catch::Contains("the trainer.batch_size of 256 transitions of ") &&
                        Catch::EndsWith(", got 10"));
  CHECK_THROWS_WITH(
      parse<td3_config>({"total_steps=100", "collection.learning_starts=100"}),
      Catch::Contains("/total_steps: expected more than the 100 environment steps before"));
  CHECK_THROWS_WITH(parse<dqn_config>({"faults=random"}), Catch::Contains("/faults"));
  CHECK_THROWS_WITH(parse<dqn_config>({"deterministic=true", "faults=often"}),
                    Catch::Contains("/faults: expected random, or faults such as"));
  CHECK_THROWS_WITH(parse<dqn_config>({"replay.prioritised.beta=2"}),
                    Catch::Contains("/replay/prioritised/beta"));
}

TEST_CASE("off-policy config: an environment with other actions is refused, and named") {
  CHECK_THROWS_WITH(
      algorithm_with(parse<dqn_config>({"env.id=Pendulum-v1"})).check(),
      Catch::Contains("dqn: expected an environment with actions of Discrete, got Pendulum-v1") &&
          Catch::Contains("Box") && Catch::Contains("sac"));
  CHECK_THROWS_WITH(
      algorithm_with(parse<sac_config>({"env.id=CartPole-v1"})).check(),
      Catch::Contains("sac: expected an environment with actions of Box, got CartPole-v1") &&
          Catch::Contains("Discrete(2)") && Catch::Contains("dqn"));
  CHECK_NOTHROW(algorithm_with(parse<td3_config>({})).check());
}

}  // namespace
}  // namespace troupe
