#include "actors/env/openenv_server/pace.hpp"

#include "tests/test.hpp"

namespace troupe::openenv {
namespace {

using std::chrono::microseconds;

TEST_CASE("pace: one slow step is enough, and many fast ones in a row take it back") {
  pace of;
  for (int i = 0; i < 10; ++i) of.took(microseconds(900));
  CHECK(of.is_fast());
  of.took(microseconds(1100));
  CHECK_FALSE(of.is_fast());
  for (int i = 1; i < pace::fast_in_a_row_first; ++i) of.took(microseconds(1));
  CHECK_FALSE(of.is_fast());
  of.took(microseconds(1));
  CHECK(of.is_fast());
}

TEST_CASE("pace: what is slow now and then is believed less each time") {
  pace of;
  of.took(microseconds(5000));
  for (int i = 0; i < pace::fast_in_a_row_first; ++i) of.took(microseconds(1));
  of.took(microseconds(5000));
  for (int i = 0; i < 2 * pace::fast_in_a_row_first - 1; ++i) of.took(microseconds(1));
  CHECK_FALSE(of.is_fast());
  of.took(microseconds(5000));  // slow among the slow: it begins to count anew
  for (int i = 0; i < 2 * pace::fast_in_a_row_first; ++i) {
    CHECK_FALSE(of.is_fast());
    of.took(microseconds(1));
  }
  CHECK(of.is_fast());
}

}  // namespace
}  // namespace troupe::openenv
