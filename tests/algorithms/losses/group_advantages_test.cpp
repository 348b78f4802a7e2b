#include "algorithms/losses/group_advantages.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include "tests/test.hpp"

using namespace troupe;

namespace {

using groups = std::vector<group_rewards>;

void check_row(const std::vector<double>& row, const std::vector<double>& expected) {
  REQUIRE(row.size() == expected.size());
  for (std::size_t i = 0; i < row.size(); ++i) {
    CHECK(row[i] == Approx(expected[i]).epsilon(1e-9).margin(1e-12));
  }
}

}  // namespace

TEST_CASE("advantages: each kind, worked by hand", "[losses]") {
  // Means .5 and 3; deviations sqrt(1/3) and 1. All six: mean 4/3, squares
  // 2*(1/9) + 2*(16/9) + (2/3)^2 + (8/3)^2 = 34/9 + 4/9 + 64/9 = 34/3, std sqrt(34/15).
  const groups rewards{{1.0, 0.0, 0.0, 1.0}, {2.0, 4.0}};
  const double one = std::sqrt(1.0 / 3.0), two = std::sqrt(2.0);
  const auto all = std::sqrt((2 * (1 - 8.0 / 6) * (1 - 8.0 / 6) + 2 * (8.0 / 6) * (8.0 / 6) +
                              (2 - 8.0 / 6) * (2 - 8.0 / 6) + (4 - 8.0 / 6) * (4 - 8.0 / 6)) /
                             5);
  const auto rows = [&](advantage_kind kind) { return advantages_of(rewards, kind, 0.0); };

  check_row(rows(advantage_kind::group_std)[0], {0.5 / one, -0.5 / one, -0.5 / one, 0.5 / one});
  check_row(rows(advantage_kind::group_std)[1], {-1 / two, 1 / two});
  check_row(rows(advantage_kind::group_mean)[0], {0.5, -0.5, -0.5, 0.5});
  check_row(rows(advantage_kind::group_mean)[1], {-1, 1});
  check_row(rows(advantage_kind::batch_std)[0], {0.5 / all, -0.5 / all, -0.5 / all, 0.5 / all});
  check_row(rows(advantage_kind::batch_std)[1], {-1 / all, 1 / all});
  // Without themselves: 1 - 1/3, 0 - 2/3; 2 - 4, 4 - 2.
  check_row(rows(advantage_kind::leave_one_out)[0], {2.0 / 3, -2.0 / 3, -2.0 / 3, 2.0 / 3});
  check_row(rows(advantage_kind::leave_one_out)[1], {-2, 2});
  check_row(rows(advantage_kind::reward)[1], {2, 4});
}

TEST_CASE("advantages: eps is added to the deviation", "[losses]") {
  const auto row = advantages_of({{2.0, 4.0}}, advantage_kind::group_std, 1.0)[0];
  check_row(row, {-1 / (std::sqrt(2.0) + 1), 1 / (std::sqrt(2.0) + 1)});
}

TEST_CASE("advantages: of groups without variance they are exactly 0", "[losses]") {
  // .1 three times has a mean that isn't .1 in doubles.
  const groups rewards{{0.1, 0.1, 0.1}, {0.0, 1.0}, {0.7}, {std::nullopt, 1.0}, {}};
  for (const auto kind : {advantage_kind::group_std, advantage_kind::group_mean,
                          advantage_kind::batch_std, advantage_kind::leave_one_out}) {
    const auto found = advantages_of(rewards, kind);
    CHECK(found[0] == std::vector<double>{0, 0, 0});
    CHECK(found[2] == std::vector<double>{0});
    CHECK(found[3] == std::vector<double>{0, 0});
    CHECK(found[4].empty());
    CHECK(found[1][1] > 0);
  }
  const auto plain = advantages_of(rewards, advantage_kind::reward);
  CHECK(plain[2] == std::vector<double>{0.7});
}

TEST_CASE("advantages: an answer without a reward is no bad answer", "[losses]") {
  const auto with = advantages_of({{1.0, std::nullopt, 0.0, 1.0}}, advantage_kind::group_std);
  const auto without = advantages_of({{1.0, 0.0, 1.0}}, advantage_kind::group_std);
  const auto& a = with[0];
  CHECK(a[1] == 0.0);
  check_row({a[0], a[2], a[3]}, without[0]);
  CHECK(std::accumulate(a.begin(), a.end(), 0.0) == Approx(0.0).margin(1e-12));
}

TEST_CASE("reward_std: of the rewards that there are", "[losses]") {
  CHECK(reward_std({1.0, 0.0, 0.0, 1.0}) == Approx(std::sqrt(1.0 / 3.0)));
  CHECK(reward_std({2.0, std::nullopt, 4.0}) == Approx(std::sqrt(2.0)));
  CHECK(reward_std({0.5, 0.5}) == 0.0);
  CHECK(reward_std({0.5}) == 0.0);
}

TEST_CASE("advantages: a reward that is not finite is refused", "[losses]") {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()}) {
    CHECK_THROWS_WITH(advantages_of({{1.0, bad}}, advantage_kind::group_mean),
                      Catch::Contains("expected finite rewards, got"));
  }
}
