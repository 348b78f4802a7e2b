#include "actors/worlds/registry.hpp"

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <mutex>

#include "actors/worlds/board_games/line_game.hpp"
#include "actors/worlds/box2d/lunar_lander.hpp"
#include "actors/worlds/classic_control/acrobot.hpp"
#include "actors/worlds/classic_control/cartpole.hpp"
#include "actors/worlds/classic_control/mountain_car.hpp"
#include "actors/worlds/classic_control/mountain_car_continuous.hpp"
#include "actors/worlds/classic_control/pendulum.hpp"
#include "actors/worlds/pixels/pixel_catch.hpp"
#include "actors/worlds/toy_text/blackjack.hpp"
#include "runtime/config/nearest_name.hpp"

namespace troupe {
namespace {

/// The factories of one id. `one` is null for an id that is registered as a vector environment.
struct factories {
  vector_environment_factory many;
  environment_factory one;
  bool built_in = false;
};

/// Returns factories of a class, which construct each environment from the same arguments.
template <class Env, class... Arguments>
factories of(Arguments... arguments) {
  return {[=](std::size_t size) {
            return std::make_unique<vector_env<Env>>(size, [=] { return Env(arguments...); });
          },
          [=] { return std::make_unique<Env>(arguments...); }, true};
}

struct registry {
  std::mutex guard;
  std::map<std::string, factories, std::less<>> known{
      {"Acrobot-v1", of<acrobot>()},
      {"Blackjack-v1", of<blackjack>()},
      {"CartPole-v0", of<cartpole>(cartpole_options{.version = cartpole_options::version::v0})},
      {"CartPole-v1", of<cartpole>()},
      {"Catch-v0", of<pixel_catch>()},
      {"CatchSmall-v0", of<pixel_catch>(pixel_catch_options{.id = "CatchSmall-v0", .pixels = 36})},
      {"ConnectFour-v0", of<line_game>(connect_four_options())},
      {"LunarLander-v3", of<lunar_lander>()},
      {"LunarLanderContinuous-v3", of<lunar_lander>(lunar_lander_options{.continuous = true})},
      {"MountainCar-v0", of<mountain_car>()},
      {"MountainCarContinuous-v0", of<mountain_car_continuous>()},
      {"Pendulum-v1", of<pendulum>()},
      {"TicTacToe-v0", of<line_game>()}};
};

// The registry is made at its first use, because the linker would leave out a static library's own
// initialisers.
registry& the_registry() {
  static registry made;
  return made;
}

std::vector<std::string> ids_of(const registry& of) {
  std::vector<std::string> ids;
  for (const auto& [id, make] : of.known) ids.push_back(id);
  return ids;
}

/// The two parts of an id: "CartPole-v1" is version 1 of "CartPole". An id without a number counts
/// as the newest version.
struct versioned_name {
  explicit versioned_name(const std::string& id) : name(id) {
    const auto at = id.rfind("-v");
    if (at == id.npos) return;
    const auto* end = id.data() + id.size();
    const auto [rest, error] = std::from_chars(id.data() + at + 2, end, version);
    if (error == std::errc() && rest == end) name.resize(at);
  }
  std::string name;
  std::int64_t version = std::numeric_limits<std::int32_t>::max();
};

/// Returns the known environment of the nearest name, in the version nearest to the wanted one. The
/// newer of two equally near versions wins. An empty string means that no name is near.
std::string nearest_environment(const std::string& wanted, const std::vector<std::string>& ids) {
  const versioned_name meant(wanted);
  std::vector<std::string> names;
  for (const auto& id : ids) names.push_back(versioned_name(id).name);
  const auto name = nearest_name(meant.name, names);
  std::string nearest;
  auto least = std::numeric_limits<std::int64_t>::max();
  for (const auto& id : ids) {
    const versioned_name known(id);
    const auto apart = std::abs(known.version - meant.version);
    if (known.name != name || apart > least) continue;
    nearest = id;
    least = apart;
  }
  return nearest;
}

void add(std::string id, factories make) {
  if (id.empty()) throw std::invalid_argument("environment id: expected a name, got none");
  auto& all = the_registry();
  const std::lock_guard lock(all.guard);
  const auto [at, added] = all.known.try_emplace(std::move(id), std::move(make));
  if (!added)
    throw std::invalid_argument("environment id: expected a new name, got \"" + at->first +
                                "\", which is registered already");
}

factories find(std::string_view id) {
  auto& all = the_registry();
  const std::lock_guard lock(all.guard);
  const auto at = all.known.find(id);
  if (at == all.known.end()) {
    const auto ids = ids_of(all);
    const auto meant = nearest_environment(std::string(id), ids);
    throw unknown_environment(unknown_name_message("environment", id, ids, meant));
  }
  return at->second;
}

/// Makes environments whose spec has the id that they are registered under, whatever they call
/// themselves. Throws std::invalid_argument with that id in its message.
std::unique_ptr<vector_environment> make_named(std::string_view id, std::size_t size,
                                               const vector_environment_factory& make) {
  const std::string name(id);
  try {
    auto made = make(size);
    made->rename(name);
    return made;
  } catch (const std::invalid_argument& error) {
    const std::string message = error.what();
    throw std::invalid_argument(message.starts_with(name) ? message : name + ": " + message);
  }
}

vector_environment_factory batches_of(environment_factory make) {
  return [make = std::move(make)](std::size_t size) {
    return std::make_unique<vector_env<std::unique_ptr<environment>>>(size, make);
  };
}

}  // namespace

void register_environment(std::string id, environment_factory make) {
  add(std::move(id), {batches_of(make), make});
}

void register_vector_environment(std::string id, vector_environment_factory make) {
  add(std::move(id), {std::move(make), nullptr});
}

namespace detail {
void register_both(std::string id, vector_environment_factory many, environment_factory one) {
  add(std::move(id), {std::move(many), std::move(one)});
}
}  // namespace detail

std::unique_ptr<vector_environment> make_vector_environment(std::string_view id, std::size_t size) {
  return make_named(id, size, find(id).many);
}

std::unique_ptr<vector_environment> make_vector_environment(std::string_view id, std::size_t size,
                                                            const wrapper_options& wrappers) {
  const auto make = find(id);
  if (wrappers == wrapper_options{}) return make_named(id, size, make.many);
  if (!make.one)
    throw std::invalid_argument(std::string(id) +
                                ": expected no wrappers, for it is registered as a batch");
  return make_named(id, size,
                    batches_of([one = make.one, wrappers] { return wrapped(one(), wrappers); }));
}

std::unique_ptr<environment> make_environment(std::string_view id,
                                              const wrapper_options& wrappers) {
  const auto make = find(id).one;
  if (!make)
    throw std::invalid_argument(
        std::string(id) + ": expected an environment by itself, for it is registered as a batch");
  return wrapped(make(), wrappers);
}

bool is_built_in(std::string_view id) {
  auto& all = the_registry();
  const std::lock_guard lock(all.guard);
  const auto at = all.known.find(id);
  return at != all.known.end() && at->second.built_in;
}

std::vector<std::string> known_environments() {
  auto& all = the_registry();
  const std::lock_guard lock(all.guard);
  return ids_of(all);
}

}  // namespace troupe
