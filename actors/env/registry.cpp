#include "actors/env/registry.hpp"

#include <map>
#include <mutex>

#include "actors/env/acrobot.hpp"
#include "actors/env/blackjack.hpp"
#include "actors/env/cartpole.hpp"
#include "actors/env/mountain_car.hpp"
#include "actors/env/mountain_car_continuous.hpp"
#include "actors/env/pendulum.hpp"
#include "runtime/config/nearest_name.hpp"

namespace troupe {
namespace {

/// Makes environments of a class, each from the same arguments.
template <class Env, class... Arguments>
vector_environment_factory of(Arguments... arguments) {
  return [=](std::size_t size) {
    return std::make_unique<vector_env<Env>>(size, [=] { return Env(arguments...); });
  };
}

struct registry {
  std::mutex guard;
  std::map<std::string, vector_environment_factory, std::less<>> factories{
      {"Acrobot-v1", of<acrobot>()},
      {"Blackjack-v1", of<blackjack>()},
      {"CartPole-v0", of<cartpole>(cartpole_options{.version = cartpole_options::version::v0})},
      {"CartPole-v1", of<cartpole>()},
      {"MountainCar-v0", of<mountain_car>()},
      {"MountainCarContinuous-v0", of<mountain_car_continuous>()},
      {"Pendulum-v1", of<pendulum>()}};
};

// Made at first use: a static library's own initialisers would be left out by the linker.
registry& the_registry() {
  static registry made;
  return made;
}

std::vector<std::string> ids_of(const registry& of) {
  std::vector<std::string> ids;
  for (const auto& [id, make] : of.factories) ids.push_back(id);
  return ids;
}

}  // namespace

void register_environment(std::string id, environment_factory make) {
  register_vector_environment(std::move(id), [make = std::move(make)](std::size_t size) {
    return std::make_unique<vector_env<std::unique_ptr<environment>>>(size, make);
  });
}

void register_vector_environment(std::string id, vector_environment_factory make) {
  if (id.empty()) throw std::invalid_argument("environment id: expected a name, got none");
  auto& known = the_registry();
  const std::lock_guard lock(known.guard);
  const auto [at, added] = known.factories.try_emplace(std::move(id), std::move(make));
  if (!added)
    throw std::invalid_argument("environment id: expected a new name, got \"" + at->first +
                                "\", which is registered already");
}

std::unique_ptr<vector_environment> make_vector_environment(std::string_view id, std::size_t size) {
  vector_environment_factory make;
  {
    auto& known = the_registry();
    const std::lock_guard lock(known.guard);
    const auto at = known.factories.find(id);
    if (at == known.factories.end())
      throw unknown_environment(unknown_name_message("environment", id, ids_of(known)));
    make = at->second;
  }
  return make(size);
}

std::vector<std::string> known_environments() {
  auto& known = the_registry();
  const std::lock_guard lock(known.guard);
  return ids_of(known);
}

}  // namespace troupe
