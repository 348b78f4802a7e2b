#include "actors/worlds/registry.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "actors/worlds/classic_control/cartpole.hpp"
#include "tests/actors/environments/scripted_environment.hpp"
#include "tests/message_of.hpp"
#include "tests/test.hpp"

using namespace troupe;
using testing::message_of;

TEST_CASE("registry: CartPole is known in both versions", "[env]") {
  const auto known = known_environments();
  CHECK(std::is_sorted(known.begin(), known.end()));
  for (const std::string id : {"CartPole-v0", "CartPole-v1"}) {
    CHECK(std::count(known.begin(), known.end(), id) == 1);
    auto batch = make_vector_environment(id, 3);
    CHECK(batch->spec().id == id);
    CHECK(batch->size() == 3);
    CHECK(batch->reset(1).obs.size() == 12);
  }
}

TEST_CASE("registry: CartPole-v0 is truncated after 200 steps", "[env]") {
  auto batch = make_vector_environment("CartPole-v0", 1);
  auto obs = batch->reset(1).obs;
  for (int t = 1;; ++t) {
    // Balances for hundreds of steps.
    const std::int64_t action = obs[2] + 0.5F * obs[3] + 0.05F * obs[1] > 0 ? 1 : 0;
    const auto after = batch->step({.discrete = {action}});
    obs = after.obs;
    if (after.finished.empty()) continue;
    CHECK(t == 200);
    CHECK(after.truncated[0] == 1);
    CHECK(after.terminated[0] == 0);
    break;
  }
}

TEST_CASE("registry: an unknown name is answered with the nearest and all known ones", "[env]") {
  CHECK_THROWS_AS(make_vector_environment("CartPol-v1", 1), unknown_environment);
  try {
    make_vector_environment("cartpol-v1", 1);
  } catch (const unknown_environment& error) {
    const std::string message = error.what();
    CHECK(message.find("unknown environment \"cartpol-v1\"; did you mean \"CartPole-v1\"?") == 0);
    for (const auto& id : known_environments()) CHECK(message.find('"' + id + '"') != message.npos);
  }
}

TEST_CASE("registry: the version that is suggested is the nearest there is", "[env]") {
  for (const auto& [wanted, meant] :
       std::map<std::string, std::string>{{"CartPole-v2", "CartPole-v1"},
                                          {"CartPol-v7", "CartPole-v1"},
                                          {"CartPole", "CartPole-v1"},
                                          {"mountaincar-v3", "MountainCar-v0"},
                                          {"LunarLander-v2", "LunarLander-v3"},
                                          {"LunarLanderContinous-v2", "LunarLanderContinuous-v3"},
                                          {"Blackjack-vx", "Blackjack-v1"}}) {
    const auto start = "unknown environment \"" + wanted + "\"; did you mean \"" + meant + "\"?";
    CHECK(message_of([&] { make_vector_environment(wanted, 1); }).starts_with(start));
  }
}

TEST_CASE("registry: messages say the name that an environment is registered by", "[env]") {
  register_environment<cartpole>("Renamed-v0");
  auto batch = make_vector_environment("Renamed-v0", 1);
  batch->reset(1);
  CHECK(message_of([&] { batch->step({.discrete = {2}}); }).starts_with("Renamed-v0: "));
  register_environment("Failing-v0", [] {
    return std::make_unique<scripted_environment>(scripted_environment::script{
        .on_step = [](auto...) -> step_result { throw std::runtime_error("it broke down"); }});
  });
  batch = make_vector_environment("Failing-v0", 1);
  batch->reset(1);
  const auto after = batch->step({.discrete = {0}});
  REQUIRE(after.failures.size() == 1);
  CHECK(after.failures[0].id == "Failing-v0");
  const auto none = message_of([] { make_vector_environment("Renamed-v0", 0); });
  CHECK(none.starts_with("Renamed-v0: "));
}

TEST_CASE("registry: a user's environment is made by its name", "[env]") {
  register_environment("Mine-v0", [] {
    return std::make_unique<scripted_environment>(scripted_environment::script{});
  });
  auto batch = make_vector_environment("Mine-v0", 2);
  CHECK(batch->reset(4).obs == std::vector<float>{0, 4, 0, 5});
  CHECK(batch->step({.discrete = {0, 0}}).obs == std::vector<float>{1, 4, 1, 5});
  register_environment<cartpole>("MyCartPole-v0");
  auto expected = cartpole().spec();
  expected.id = "MyCartPole-v0";
  CHECK(make_vector_environment("MyCartPole-v0", 1)->spec() == expected);
}

TEST_CASE("registry: an id is given once", "[env]") {
  CHECK_THROWS_WITH(register_environment<cartpole>("CartPole-v1"),
                    "environment id: expected a new name, got \"CartPole-v1\", which is "
                    "registered already");
  CHECK_THROWS_WITH(register_environment<cartpole>(""),
                    "environment id: expected a name, got none");
}
