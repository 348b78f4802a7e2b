#pragma once
// Environments by name: registering an environment of one's own, and making those that are
// registered.

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "actors/environments/vector_env.hpp"
#include "actors/environments/wrappers.hpp"

namespace troupe {

using environment_factory = std::function<std::unique_ptr<environment>()>;
/// Makes a vector environment of `size` environments.
using vector_environment_factory =
    std::function<std::unique_ptr<vector_environment>(std::size_t size)>;

/// Thrown for an id that is not registered. The message names the nearest known environment, in its
/// nearest version, and lists all known ids.
class unknown_environment : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// Registers an environment under `id`. Throws std::invalid_argument if the id is empty or taken.
/// Any thread may call this function and the others of this header.
void register_environment(std::string id, environment_factory make);
/// Registers a vector environment under `id`, in the same way.
void register_vector_environment(std::string id, vector_environment_factory make);

namespace detail {
void register_both(std::string id, vector_environment_factory many, environment_factory one);
}

/// Registers a class that has a default constructor. A final class is stepped without virtual
/// calls.
template <class Env>
  requires std::is_base_of_v<environment, Env> && std::is_default_constructible_v<Env>
void register_environment(std::string id) {
  detail::register_both(
      std::move(id), [](std::size_t size) { return std::make_unique<vector_env<Env>>(size); },
      [] { return std::make_unique<Env>(); });
}

/// Makes `size` environments registered under `id`; their spec has that id. Throws
/// unknown_environment, and std::invalid_argument for a size of 0.
std::unique_ptr<vector_environment> make_vector_environment(std::string_view id, std::size_t size);
/// Makes `size` environments, each in the given wrappers. Also throws std::invalid_argument where
/// the wrappers don't fit, and for wrappers around an id that is registered as a vector
/// environment.
std::unique_ptr<vector_environment> make_vector_environment(std::string_view id, std::size_t size,
                                                            const wrapper_options& wrappers);

/// Makes one environment in the given wrappers. Throws unknown_environment, and
/// std::invalid_argument for an id that is registered as a vector environment.
std::unique_ptr<environment> make_environment(std::string_view id, const wrapper_options& wrappers);

/// True if `id` is one of Troupe's own environments, which every program has.
bool is_built_in(std::string_view id);

/// Returns the registered ids, sorted.
std::vector<std::string> known_environments();

}  // namespace troupe
