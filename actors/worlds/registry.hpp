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
#include "actors/python/environment_request.hpp"
#include "runtime/config/options_schema.hpp"

namespace troupe {

using environment_factory = std::function<std::unique_ptr<environment>()>;
/// Makes a vector environment of `size` environments.
using vector_environment_factory =
    std::function<std::unique_ptr<vector_environment>(std::size_t size)>;

/// How a run has to treat an environment.
struct environment_traits {
  /// Its calls wait for another process, so its replicas have a thread each.
  bool blocks = false;
  /// Why the same seed need not give the same episodes, such as "it runs in Python"; empty if it
  /// does.
  std::string not_deterministic = {};
};

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
/// `make` reads the arguments and returns a factory.
void register_with_options(std::string id,
                           std::function<environment_factory(const std::string& json)> make);
/// Reads arguments into the struct at `to`. Throws std::invalid_argument that names the option.
void read_options_into(const struct_kind& schema, const std::string& json, void* to);

template <class Options>
Options read_options(const std::string& json, Options defaults = {}) {
  read_options_into(struct_kind_of<Options>(), json, &defaults);
  return defaults;
}
}  // namespace detail

/// Registers a class that has a default constructor. A final class is stepped without virtual
/// calls.
template <class Env>
  requires std::is_base_of_v<environment, Env> && std::is_default_constructible_v<Env>
void register_environment(std::string id) {
  detail::register_both(
      std::move(id), [](std::size_t size) { return std::make_unique<vector_env<Env>>(size); },
      [] { return std::make_unique<Env>(); });
}

/// Registers an environment with arguments. `make` makes one from an `Options`, a struct with a
/// `describe` function (runtime/config/options_schema.hpp), by which the arguments are checked.
template <described_options Options>
void register_environment(std::string id,
                          std::function<std::unique_ptr<environment>(const Options&)> make) {
  detail::register_with_options(std::move(id), [make = std::move(make)](const std::string& json) {
    const auto options = detail::read_options<Options>(json);
    return environment_factory([make, options] { return make(options); });
  });
}

/// Makes `size` environments; their spec has the id of the request. Throws unknown_environment, and
/// std::invalid_argument for a size of 0, for arguments that the environment does not have, where
/// the wrappers don't fit, and for wrappers around an id that is registered as a vector
/// environment. Python environments throw python_error.
std::unique_ptr<vector_environment> make_vector_environment(const environment_request& request,
                                                            std::size_t size);
std::unique_ptr<vector_environment> make_vector_environment(std::string_view id, std::size_t size);

/// Makes one environment, with the same exceptions. Throws std::invalid_argument for an id that is
/// registered as a vector environment.
std::unique_ptr<environment> make_environment(const environment_request& request);
std::unique_ptr<environment> make_environment(std::string_view id);

/// Returns how a run has to treat the environment of that id. Throws nothing for an id that is not
/// registered.
environment_traits traits_of(std::string_view id);

/// True if any program can make the environment: one of Troupe's own, one in Python or one in a
/// plug-in. False for one that this program has registered.
bool is_in_every_program(std::string_view id);

/// Returns the registered ids, sorted.
std::vector<std::string> known_environments();

}  // namespace troupe
