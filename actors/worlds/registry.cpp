#include "actors/worlds/registry.hpp"

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>

#include "actors/python/python_environment.hpp"
#include "actors/worlds/bar_problem/bar_problem.hpp"
#include "actors/worlds/board_games/line_game.hpp"
#include "actors/worlds/box2d/lunar_lander.hpp"
#include "actors/worlds/classic_control/acrobot.hpp"
#include "actors/worlds/classic_control/cartpole.hpp"
#include "actors/worlds/classic_control/mountain_car.hpp"
#include "actors/worlds/classic_control/mountain_car_continuous.hpp"
#include "actors/worlds/classic_control/pendulum.hpp"
#include "actors/worlds/matrix_games/matrix_game.hpp"
#include "actors/worlds/mpe/simple_adversary.hpp"
#include "actors/worlds/mpe/simple_push.hpp"
#include "actors/worlds/mpe/simple_reference.hpp"
#include "actors/worlds/mpe/simple_speaker_listener.hpp"
#include "actors/worlds/mpe/simple_spread.hpp"
#include "actors/worlds/mpe/simple_tag.hpp"
#include "actors/worlds/pixels/pixel_catch.hpp"
#include "actors/worlds/plugin_loader.hpp"
#include "actors/worlds/toy_text/blackjack.hpp"
#include "runtime/config/config.hpp"
#include "runtime/config/nearest_name.hpp"

namespace troupe {
namespace {

/// The factories of one id, which take arguments as JSON. `one` is null for an id that is
/// registered as a vector environment.
struct factories {
  std::function<std::unique_ptr<vector_environment>(std::size_t, const std::string&)> many;
  std::function<environment_factory(const std::string&)> one;
  bool built_in = false;
};

vector_environment_factory batches_of(environment_factory make) {
  return [make = std::move(make)](std::size_t size) {
    return std::make_unique<vector_env<std::unique_ptr<environment>>>(size, make);
  };
}

void require_no_options(const std::string& json) {
  if (json != "{}")
    throw std::invalid_argument("env.options: expected none, for it has none, got " + json);
}

/// Returns factories of a class, which construct each environment from the same arguments.
template <class Env, class... Arguments>
factories of(Arguments... arguments) {
  return {[=](std::size_t size, const std::string& json) {
            require_no_options(json);
            return std::make_unique<vector_env<Env>>(size, [=] { return Env(arguments...); });
          },
          [=](const std::string& json) -> environment_factory {
            require_no_options(json);
            return [=] { return std::make_unique<Env>(arguments...); };
          },
          true};
}

/// Returns factories of a class with described options.
template <class Env, class Options>
factories with_options(Options defaults) {
  return {[=](std::size_t size, const std::string& json) {
            const auto options = detail::read_options<Options>(json, defaults);
            return std::make_unique<vector_env<Env>>(size, [=] { return Env(options); });
          },
          [=](const std::string& json) -> environment_factory {
            const auto options = detail::read_options<Options>(json, defaults);
            return [=] { return std::make_unique<Env>(options); };
          },
          true};
}

/// Returns factories of environments without arguments.
factories without_options(vector_environment_factory many, environment_factory one) {
  factories made{[many = std::move(many)](std::size_t size, const std::string& json) {
                   require_no_options(json);
                   return many(size);
                 },
                 nullptr};
  if (one) {
    made.one = [one = std::move(one)](const std::string& json) {
      require_no_options(json);
      return one;
    };
  }
  return made;
}

struct registry {
  std::mutex guard;
  std::map<std::string, factories, std::less<>> known{
      {"Acrobot-v1", of<acrobot>()},
      {"Blackjack-v1", with_options<blackjack>(blackjack_options())},
      {"CartPole-v0",
       with_options<cartpole>(cartpole_options{.version = cartpole_options::version::v0})},
      {"CartPole-v1", with_options<cartpole>(cartpole_options())},
      {"Catch-v0", of<pixel_catch>()},
      {"CatchSmall-v0", of<pixel_catch>(pixel_catch_options{.id = "CatchSmall-v0", .pixels = 36})},
      {"ConnectFour-v0", of<line_game>(connect_four_options())},
      {"LunarLander-v3", with_options<lunar_lander>(lunar_lander_options())},
      {"LunarLanderContinuous-v3",
       with_options<lunar_lander>(lunar_lander_options{.continuous = true})},
      {"MountainCar-v0", with_options<mountain_car>(mountain_car_options())},
      {"MountainCarContinuous-v0", of<mountain_car_continuous>()},
      {"Pendulum-v1", with_options<pendulum>(pendulum_options())},
      {"TicTacToe-v0", of<line_game>()},
      {"bar_problem-v0", with_options<bar_problem>(bar_problem_options())},
      {"climbing-v0", with_options<matrix_game>(climbing_options())},
      {"matching_pennies-v0", with_options<matrix_game>(matching_pennies_options())},
      {"matrix_game-v0", with_options<matrix_game>(matrix_game_options())},
      {"penalty-v0", with_options<penalty_game>(penalty_options())},
      {"prisoners_dilemma-v0", with_options<matrix_game>(prisoners_dilemma_options())},
      {"rock_paper_scissors-v0", with_options<matrix_game>(rock_paper_scissors_options())},
      {"simple_adversary_v3", with_options<simple_adversary>(simple_adversary_options())},
      {"simple_push_v3", with_options<simple_push>(mpe_options())},
      {"simple_reference_v3", with_options<simple_reference>(simple_reference_options())},
      {"simple_speaker_listener_v4", with_options<simple_speaker_listener>(mpe_options())},
      {"simple_spread_v3", with_options<simple_spread>(simple_spread_options())},
      {"simple_tag_v3", with_options<simple_tag>(simple_tag_options())},
      {"two_step-v0", of<two_step_game>()}};
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

bool is_registered(std::string_view id) {
  auto& all = the_registry();
  const std::lock_guard lock(all.guard);
  return all.known.contains(id);
}

/// True for "gymnasium:ID", "pettingzoo:MODULE" and "module:Class", unless it is registered.
/// "openenv:URL" is none.
bool is_in_python(std::string_view id) {
  return names_python(id) && !names_plugin(id) && !is_registered(id);
}

/// True for a path of a plug-in, unless it is registered.
bool is_in_plugin(std::string_view id) { return names_plugin(id) && !is_registered(id); }

/// Calls a function of a plug-in. Throws std::invalid_argument if it throws a std::exception.
template <class Make>
auto made_by_plugin(const Make& make) {
  try {
    return make();
  } catch (const std::invalid_argument&) {
    throw;
  } catch (const std::exception& error) {
    throw std::invalid_argument(std::string("the plug-in threw: ") + error.what());
  }
}

/// Returns factories of an environment in a plug-in. Throws plugin_error.
factories of_plugin(std::string_view id) {
  const auto& world = plugin_world_of(id);
  factories made;
  if (world.one) {
    made.one = [&world](const std::string& json) -> environment_factory {
      return [&world, json] { return made_by_plugin([&] { return world.one(json); }); };
    };
  }
  made.many = [&world, one = made.one](std::size_t size, const std::string& json) {
    if (!world.many) return batches_of(one(json))(size);
    return made_by_plugin([&] { return world.many(size, json); });
  };
  return made;
}

factories find(std::string_view id) {
  if (is_in_plugin(id)) return of_plugin(id);
  auto& all = the_registry();
  const std::lock_guard lock(all.guard);
  const auto at = all.known.find(id);
  if (at == all.known.end()) {
    const auto ids = ids_of(all);
    const auto meant = nearest_environment(std::string(id), ids);
    throw unknown_environment(
        unknown_name_message("environment", id, ids, meant) +
        "; one in Python is gymnasium:ID, pettingzoo:MODULE or module:Class, and a plug-in ends in "
        ".so");
  }
  return at->second;
}

/// Calls `make`. Throws std::invalid_argument with the id in its message.
template <class Make>
auto named(std::string_view id, const Make& make) {
  try {
    return make();
  } catch (const std::invalid_argument& error) {
    const std::string name(id), message = error.what();
    throw std::invalid_argument(message.starts_with(name) ? message : name + ": " + message);
  }
}

/// Returns the factory of single environments of a request. Throws std::invalid_argument for an id
/// that is registered as a vector environment, with `reason`.
environment_factory factory_of_one(const factories& make, const environment_request& request,
                                   const char* expected) {
  if (!make.one)
    throw std::invalid_argument(request.id + ": expected " + expected +
                                ", for it is registered as a batch");
  return make.one(request.options);
}

environment_traits traits_in_plugin(std::string_view id) {
  try {
    if (plugin_world_of(id).options.deterministic) return {};
    return {.not_deterministic = "its plug-in doesn't mark it as deterministic"};
  } catch (const plugin_error&) {
    return {};  // Whoever makes it is told.
  }
}

void refuse_python_options(const environment_request& request) {
  if (!request.python.wrappers.empty())
    throw std::invalid_argument("env.wrappers: expected none, for it is no environment in Python");
}

/// Returns what was made, whose resets have the options of the request.
template <class Made>
Made with_reset_options(Made made, const environment_request& request) {
  if (request.reset_options != "{}") made->set_options(request.reset_options);
  return made;
}

std::unique_ptr<vector_environment> make_vector(const environment_request& request,
                                                std::size_t size) {
  if (is_in_python(request.id)) return make_python_environments(request, size);
  const auto make = find(request.id);
  return named(request.id, [&] {
    refuse_python_options(request);
    if (request.wrappers == wrapper_options{}) {
      auto made = make.many(size, request.options);
      made->rename(request.id);
      return made;
    }
    const auto one = factory_of_one(make, request, "no wrappers");
    auto made =
        batches_of([one, wrappers = request.wrappers] { return wrapped(one(), wrappers); })(size);
    made->rename(request.id);
    return made;
  });
}

std::unique_ptr<environment> make_one(const environment_request& request) {
  if (is_in_python(request.id)) return make_python_environment(request);
  const auto make = find(request.id);
  return named(request.id, [&] {
    refuse_python_options(request);
    return wrapped(factory_of_one(make, request, "an environment by itself")(), request.wrappers);
  });
}

}  // namespace

void register_environment(std::string id, environment_factory make) {
  add(std::move(id), without_options(batches_of(make), make));
}

void register_vector_environment(std::string id, vector_environment_factory make) {
  add(std::move(id), without_options(std::move(make), nullptr));
}

namespace detail {

void register_both(std::string id, vector_environment_factory many, environment_factory one) {
  add(std::move(id), without_options(std::move(many), std::move(one)));
}

void register_with_options(std::string id,
                           std::function<environment_factory(const std::string&)> make) {
  add(std::move(id),
      {[make](std::size_t size, const std::string& json) { return batches_of(make(json))(size); },
       make});
}

void read_options_into(const struct_kind& schema, const std::string& json, void* to) {
  try {
    schema.read(parse_json(json, "env.options"), to, "env.options", {});
  } catch (const config_error& error) {
    throw std::invalid_argument(error.what());
  }
}

}  // namespace detail

std::unique_ptr<vector_environment> make_vector_environment(const environment_request& request,
                                                            std::size_t size) {
  return with_reset_options(make_vector(request, size), request);
}

std::unique_ptr<vector_environment> make_vector_environment(std::string_view id, std::size_t size) {
  return make_vector_environment({.id = std::string(id)}, size);
}

std::unique_ptr<environment> make_environment(const environment_request& request) {
  return with_reset_options(make_one(request), request);
}

std::unique_ptr<environment> make_environment(std::string_view id) {
  return make_environment(environment_request{.id = std::string(id)});
}

environment_traits traits_of(std::string_view id) {
  if (is_in_plugin(id)) return traits_in_plugin(id);
  if (is_in_python(id)) return {.blocks = true, .not_deterministic = "it runs in Python"};
  return {};
}

bool is_in_every_program(std::string_view id) {
  if (is_in_plugin(id) || is_in_python(id)) return true;
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
