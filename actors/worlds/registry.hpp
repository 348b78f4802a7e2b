#pragma once
// Environments by name.

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
/// Makes B environments in one.
using vector_environment_factory =
    std::function<std::unique_ptr<vector_environment>(std::size_t size)>;

/// The message names the nearest known environment, in its nearest version, and lists all of them.
class unknown_environment : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// Makes an environment known under `id`. Throws std::invalid_argument if the id is empty or taken.
/// May be called from any thread, as all functions here.
void register_environment(std::string id, environment_factory make);
void register_vector_environment(std::string id, vector_environment_factory make);

namespace detail {
void register_both(std::string id, vector_environment_factory many, environment_factory one);
}

/// The same for a class with a default constructor; a final one is stepped without virtual calls.
template <class Env>
  requires std::is_base_of_v<environment, Env> && std::is_default_constructible_v<Env>
void register_environment(std::string id) {
  detail::register_both(
      std::move(id), [](std::size_t size) { return std::make_unique<vector_env<Env>>(size); },
      [] { return std::make_unique<Env>(); });
}

/// B environments of that name, which is the id in their spec. Throws unknown_environment, and
/// std::invalid_argument for a size of 0.
std::unique_ptr<vector_environment> make_vector_environment(std::string_view id, std::size_t size);
/// The same, each in wrappers. Throws std::invalid_argument too where they don't fit, and for
/// wrappers around what is registered as a vector environment.
std::unique_ptr<vector_environment> make_vector_environment(std::string_view id, std::size_t size,
                                                            const wrapper_options& wrappers);

/// One environment alone, in wrappers. Throws unknown_environment, and std::invalid_argument where
/// it is registered as a vector environment.
std::unique_ptr<environment> make_environment(std::string_view id, const wrapper_options& wrappers);

/// The ids, sorted.
std::vector<std::string> known_environments();

}  // namespace troupe
