// Run by gymnasium_test.sh, which records the trajectories with the real Gymnasium first.

#include <cstdlib>
#include <fstream>

#include "tests/actors/worlds/classic_control/trajectory.hpp"
#include "tests/test.hpp"

using namespace troupe;

TEST_CASE("environments: equal the installed Gymnasium's bit for bit", "[.gymnasium]") {
  const char* path = std::getenv("TROUPE_GYMNASIUM_RECORD");
  REQUIRE(path != nullptr);
  std::ifstream record(path);
  REQUIRE(record.is_open());
  const auto reports = replay_trajectories(record, 0);
  for (const auto& [id, report] : reports) {
    WARN(id << ": " << report.steps << " steps, " << report.resets << " episodes, "
            << report.terminated << " terminated, " << report.truncated << " truncated, "
            << report.mismatches << " mismatches");
    INFO(id << ": " << report.first_mismatch);
    CHECK(report.mismatches == 0);
    CHECK(report.truncated > 0);
    CHECK((report.terminated > 0) == (id != "Pendulum-v1"));
  }
  CHECK(reports.at("CartPole-v1").steps == 200'000);
  CHECK(reports.at("Acrobot-v1").steps == 20'000);
  CHECK(reports.at("MountainCar-v0").steps == 20'000);
  CHECK(reports.at("MountainCarContinuous-v0").steps == 22'000);
  CHECK(reports.at("Pendulum-v1").steps == 22'000);
}
