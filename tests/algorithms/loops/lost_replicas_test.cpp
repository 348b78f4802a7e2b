#include "algorithms/loops/lost_replicas.hpp"

#include "tests/test.hpp"

namespace troupe {
namespace {

/// Counts a loss as an episode function does.
void lose(loops::lost_replicas& lost, error_kind kind) {
  try {
    throw call_error(kind, "environments: it hung");
  } catch (const call_error& e) {
    lost.add(e);
  }
}

TEST_CASE("lost replicas: after 20 losses in a row no other attempt is made") {
  loops::lost_replicas lost;
  for (int i = 1; i < 20; ++i) CHECK_NOTHROW(lose(lost, error_kind::session_lost));
  CHECK_THROWS_AS(lose(lost, error_kind::session_lost), loops::lasting_error);
}

TEST_CASE("lost replicas: a replica that does its work in between begins the count anew") {
  loops::lost_replicas lost;
  for (int i = 1; i < 100; ++i) {
    CHECK_NOTHROW(lose(lost, error_kind::session_lost));
    if (i % 19 == 0) lost.reset();
  }
}

TEST_CASE("lost replicas: another error is none of them, and is passed on") {
  loops::lost_replicas lost;
  CHECK_THROWS_AS(lose(lost, error_kind::service_down), call_error);
}

}  // namespace
}  // namespace troupe
