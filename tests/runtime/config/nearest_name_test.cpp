#include "runtime/config/nearest_name.hpp"

#include "tests/test.hpp"

namespace {

using troupe::edit_distance;
using troupe::nearest_name;
using troupe::unknown_name_message;

TEST_CASE("edit_distance: counts insertions, deletions and replacements", "[config]") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("kitten", "sitting") == 3);  // k-s, e-i, +g
  CHECK(edit_distance("PPO", "ppo") == 0);
}

TEST_CASE("nearest_name: finds the misspelt name, and nothing where all are far", "[config]") {
  const std::vector<std::string> known = {"Acrobot-v1", "CartPole-v1", "Pendulum-v1"};
  CHECK(nearest_name("cartpole", known) == "CartPole-v1");
  CHECK(nearest_name("CartPol-v1", known) == "CartPole-v1");
  CHECK(nearest_name("zzz", known).empty());
  CHECK(nearest_name("", known).empty());
  CHECK(nearest_name(std::string(100000, 'C'), known).empty());
  CHECK(nearest_name("x", {}).empty());
}

TEST_CASE("unknown_name_message: names the nearest and lists the known", "[config]") {
  CHECK(unknown_name_message("algorithm", "pqo", {"a2c", "ppo"}) ==
        "unknown algorithm \"pqo\"; did you mean \"ppo\"? known: \"a2c\", \"ppo\"");
  CHECK(unknown_name_message("algorithm", "zzzzz", {"ppo"}) ==
        "unknown algorithm \"zzzzz\"; known: \"ppo\"");
  CHECK(unknown_name_message("algorithm", "ppo", {}) == "unknown algorithm \"ppo\"; none is known");
}

}  // namespace
