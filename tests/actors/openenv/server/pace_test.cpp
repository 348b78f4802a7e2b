#include "actors/openenv/server/pace.hpp"

#include "tests/test.hpp"

namespace troupe::openenv_server {
namespace {

using std::chrono::microseconds;

void take(pace& of, int times, microseconds time) {
  for (int i = 0; i < times; ++i) of.took(time, false);
}

TEST_CASE("pace: one slow step is enough, and many fast ones in a row take it back") {
  pace of;
  take(of, 10, microseconds(900));
  CHECK(of.is_fast());
  take(of, 1, microseconds(1100));
  CHECK_FALSE(of.is_fast());
  take(of, pace::in_a_row_first - 1, microseconds(1));
  CHECK_FALSE(of.is_fast());
  take(of, 1, microseconds(1));
  CHECK(of.is_fast());
}

TEST_CASE("pace: what is slow now and then is believed less each time") {
  pace of;
  take(of, 1, microseconds(5000));
  take(of, pace::in_a_row_first, microseconds(1));
  take(of, 1, microseconds(5000));
  take(of, 2 * pace::in_a_row_first - 1, microseconds(1));
  CHECK_FALSE(of.is_fast());
  take(of, 1, microseconds(5000));  // slow among the slow: it begins to count anew
  take(of, 2 * pace::in_a_row_first - 1, microseconds(1));
  CHECK_FALSE(of.is_fast());
  take(of, 1, microseconds(1));
  CHECK(of.is_fast());
}

TEST_CASE("pace: a step that had to wait for a core is excused, but not two in a row") {
  pace of;
  for (int i = 0; i < 10; ++i) {
    of.took(microseconds(5000), true);
    of.took(microseconds(1), false);
  }
  CHECK(of.is_fast());
  of.took(microseconds(5000), true);
  of.took(microseconds(5000), true);
  CHECK_FALSE(of.is_fast());
}

TEST_CASE("pace: a step that was longer than any wait for a core is not excused") {
  pace of;
  of.took(pace::excused_max, true);
  CHECK(of.is_fast());
  of.took(microseconds(1), false);
  of.took(pace::excused_max + microseconds(1), true);
  CHECK_FALSE(of.is_fast());
}

TEST_CASE("pace: environments that may hang are never fast") {
  pace of(false);
  CHECK_FALSE(of.is_fast());
  take(of, 10 * pace::in_a_row_max, microseconds(1));
  CHECK_FALSE(of.is_fast());
}

}  // namespace
}  // namespace troupe::openenv_server
