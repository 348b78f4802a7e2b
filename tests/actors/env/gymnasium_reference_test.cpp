// Run by gymnasium_test.sh, which records the trajectories with the real Gymnasium first.

#include <cstdlib>
#include <fstream>

#include "tests/actors/env/trajectory.hpp"
#include "tests/test.hpp"

using namespace troupe;

TEST_CASE("cartpole: equals the installed Gymnasium bit for bit", "[.gymnasium]") {
  const char* path = std::getenv("TROUPE_GYMNASIUM_RECORD");
  REQUIRE(path != nullptr);
  std::ifstream record(path);
  REQUIRE(record.is_open());
  const auto report = replay_trajectories(record, 0).at("CartPole-v1");
  WARN(report.steps << " steps, " << report.resets << " episodes, " << report.terminated
                    << " terminated, " << report.truncated << " truncated, " << report.mismatches
                    << " mismatches");
  INFO(report.first_mismatch);
  CHECK(report.mismatches == 0);
  CHECK(report.steps == 240'000);
  CHECK(report.truncated > 0);
}
