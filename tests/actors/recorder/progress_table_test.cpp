#include "actors/recorder/progress_table.hpp"

#include "tests/test.hpp"

namespace {

using troupe::progress_table;

TEST_CASE("progress_table: has the form of Stable-Baselines3's", "[recorder]") {
  CHECK(progress_table({{"time/total_timesteps", 100352},
                        {"rollout/ep_rew_mean", 22.53},
                        {"train/approx_kl", 0.008123},
                        {"train/loss", 5.3e-7}}) ==
        "---------------------------------\n"
        "| rollout/           |          |\n"
        "|    ep_rew_mean     | 22.5     |\n"
        "| time/              |          |\n"
        "|    total_timesteps | 100352   |\n"
        "| train/             |          |\n"
        "|    approx_kl       | 0.00812  |\n"
        "|    loss            | 5.3e-07  |\n"
        "---------------------------------\n");
}

TEST_CASE("progress_table: long keys are cut and bare keys have no group", "[recorder]") {
  const auto table = progress_table({{"a", 1}, {"b/" + std::string(50, 'k'), -0.0}, {"c", -2}});
  CHECK_THAT(table, Catch::Contains("| a  "));
  CHECK_THAT(table, Catch::Contains("|    " + std::string(30, 'k') + "... | 0  |"));
  CHECK_THAT(table, Catch::Contains("| c  "));
  CHECK(progress_table({}) == "-------\n-------\n");
}

}  // namespace
