// What is saved of environments goes on as if it had never been saved.

#include "actors/environments/hosted_environment.hpp"
#include "actors/worlds/classic_control/cartpole.hpp"
#include "actors/worlds/registry.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

hosted_environment::factory cartpoles(std::size_t count) {
  return [count] { return make_vector_environment("CartPole-v1", count); };
}

env_actions alternate(std::size_t environments, int step) {
  return {.discrete = std::vector<std::int64_t>(environments, step / 3 % 2), .continuous = {}};
}

/// True if both show the same for 300 steps, over the ends of many episodes.
bool go_on_equally(hosted_environment& one, hosted_environment& other, std::size_t environments) {
  for (int t = 0; t < 300; ++t) {
    const auto a = one.step(alternate(environments, t));
    const auto b = other.step(alternate(environments, t));
    if (a.obs != b.obs || a.reward != b.reward || a.terminated != b.terminated) return false;
    if (a.finished.size() != b.finished.size()) return false;
    for (std::size_t i = 0; i < a.finished.size(); ++i) {
      if (a.finished[i].episode_return != b.finished[i].episode_return) return false;
      if (a.finished[i].length != b.finished[i].length) return false;
    }
  }
  return true;
}

TEST_CASE("environment state: CartPoles go on in the middle of their episodes, bit for bit") {
  hosted_environment one({}, cartpoles(3), 7), other({}, cartpoles(3), 8);
  one.observe();
  for (int t = 0; t < 11; ++t) one.step(alternate(3, t));
  other.restore(one.save());
  CHECK(other.observe().rows == one.observe().rows);
  CHECK(go_on_equally(one, other, 3));
}

TEST_CASE("environment state: before the first reset the seed is what is kept") {
  hosted_environment one({}, cartpoles(2), 7), other({}, cartpoles(2), 8);
  other.restore(one.save());
  CHECK(go_on_equally(one, other, 2));
}

TEST_CASE("environment state: another seed would go on differently") {
  hosted_environment one({}, cartpoles(2), 7), other({}, cartpoles(2), 8);
  CHECK_FALSE(go_on_equally(one, other, 2));
}

TEST_CASE("environment state: that of another number of environments is refused") {
  hosted_environment one({}, cartpoles(2), 7), other({}, cartpoles(3), 7);
  CHECK_THROWS_WITH(other.restore(one.save()),
                    "CartPole-v1: expected the state of 3 environments, got that of 2");
}

/// Says nothing of saving.
class forgetful final : public environment {
 public:
  env_spec spec() const override { return poles_.spec(); }
  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override {
    poles_.reset(seed, obs);
  }
  step_result step(action_view action, std::span<float> obs) override {
    return poles_.step(action, obs);
  }

 private:
  cartpole poles_;
};

TEST_CASE("environment state: one that can't be saved begins anew with the role's own seed") {
  const auto make = [] { return std::make_unique<vector_env<forgetful>>(2); };
  hosted_environment one({}, make, 7), restored({}, make, 9), fresh({}, make, 9);
  one.observe();
  restored.restore(one.save());
  CHECK(go_on_equally(restored, fresh, 2));
  state_writer nowhere;
  CHECK_FALSE(forgetful().save(nowhere));
  CHECK_THROWS_AS(forgetful().restore(state_reader(nowhere.bytes())), state_error);
}

}  // namespace
}  // namespace troupe
