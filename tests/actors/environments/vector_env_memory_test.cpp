// A step of a batch takes no memory. For that this suite counts what it takes.

#include <cstdlib>
#include <new>

#include "actors/worlds/registry.hpp"
#include "tests/test.hpp"

namespace {
std::size_t allocations = 0;  // by the test's own thread, as all in this suite
}

// NOLINTBEGIN: replacing these is how allocations are counted
void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
// NOLINTEND

namespace troupe {
namespace {

TEST_CASE("vector_env: a step into what the last one left allocates nothing", "[env]") {
  const auto id = GENERATE("Acrobot-v1", "CartPole-v1", "MountainCar-v0",
                           "MountainCarContinuous-v0", "Pendulum-v1");
  constexpr std::size_t size = 5;
  const auto environments = make_vector_environment(id, size);
  environments->reset(3);
  env_actions actions{.discrete = {0, 1, 0, 1, 0}, .continuous = {-3, -0.5F, 0, 0.5F, 3}};
  env_step after;
  environments->step_into(actions, after);
  const auto first = after.obs;
  const auto before = allocations;
  for (int t = 0; t < 5; ++t) environments->step_into(actions, after);
  CHECK(allocations == before);
  CHECK(after.finished.empty());
  CHECK(after.obs.size() == first.size());
  CHECK(after.obs != first);
  const std::vector<int> counted(1);
  CHECK(allocations > before);
}

TEST_CASE("vector_env: a step into another's result is the step itself", "[env]") {
  const auto one = make_vector_environment("CartPole-v1", 3);
  const auto other = make_vector_environment("CartPole-v1", 3);
  one->reset(5);
  other->reset(5);
  env_step after;
  for (int t = 0; t < 60; ++t) {  // over the ends of episodes
    env_actions actions{.discrete = {1, 1, t % 2}, .continuous = {}};
    const auto expected = one->step(actions);
    other->step_into(actions, after);
    REQUIRE(after.obs == expected.obs);
    REQUIRE(after.reward == expected.reward);
    REQUIRE(after.terminated == expected.terminated);
    REQUIRE(after.finished.size() == expected.finished.size());
  }
}

}  // namespace
}  // namespace troupe
