#pragma once
// For authors of plug-ins: environments, networks and update rules in a shared object, which
// programs load by its path.
//
//     class corridor final : public troupe::environment { ... };
//     TROUPE_PLUGIN(troupe::plugin_environment<corridor>("Corridor-v0", {.deterministic = true}))
//
// The CMake function `troupe_add_plugin(corridor corridor.cpp)` builds corridor.so, and
// `troupe train --env ./corridor.so` trains on it. A network, troupe::plugin_encoder{"gated",
// gated} (actors/gradients/own_network.hpp), is named by policy.encoder=./gate.so:gated. An update
// rule (algorithms/run/plugin_algorithm.hpp) is named by --algo ./awr.so:awr.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "actors/environments/environment.hpp"
#include "actors/environments/vector_env.hpp"
#include "actors/networks/encoder.hpp"

namespace troupe {

/// The properties of an environment in a plug-in.
struct plugin_options {
  /// True if the same seed always gives the same episodes. A deterministic run refuses other
  /// environments.
  bool deterministic = false;
};

/// One environment of a plug-in. The functions take the run's env.options, a JSON object, which is
/// "{}" if there are none, and throw std::invalid_argument for options that the environment doesn't
/// have.
struct plugin_world {
  std::string id;  ///< The name, such as "Corridor-v0".
  plugin_options options;
  /// Makes one environment; null if there is only `many`.
  std::function<std::unique_ptr<environment>(const std::string& json)> one;
  /// Makes a vector environment of `size` environments; null if there is only `one`.
  std::function<std::unique_ptr<vector_environment>(std::size_t size, const std::string& json)>
      many;
};

/// One network of a plug-in, which policy.encoder names.
struct plugin_encoder {
  std::string id;  ///< The name, such as "gated".
  encoder_function function;
};

/// One algorithm of a plug-in, which --algo names. algorithms/run/plugin_algorithm.hpp makes it.
struct plugin_algorithm {
  std::string id;                    ///< The name, such as "awr".
  std::string help;                  ///< A description of a few words.
  std::shared_ptr<const void> rule;  ///< Its update rule, which algorithms/ reads.
};

/// What a plug-in has: an environment, a network or an algorithm.
using plugin_part = std::variant<plugin_world, plugin_encoder, plugin_algorithm>;

namespace detail {

/// Throws std::invalid_argument unless the JSON object is "{}".
void refuse_plugin_options(const std::string& json);

/// What a shared object tells a program that loads it, in a layout that no version changes. The
/// program reads the lists of parts only if `build` and `abi` are its own.
struct plugin_descriptor {
  static constexpr std::uint64_t magic_number = 0x6e67756c70707274;
  std::uint64_t magic;
  const char* build;  ///< The build_stamp() of the Troupe that the plug-in was built with.
  const char* abi;    ///< Its plugin_abi().
  const std::vector<plugin_world>* worlds;
  const std::vector<plugin_encoder>* encoders;
  const std::vector<plugin_algorithm>* algorithms;
};

/// Describes what the layout of standard types depends on, such as "x86_64, libstdc++ cxx11". The
/// compiler itself may differ.
const char* plugin_abi();

/// Makes the descriptor of these parts, which live as long as the program.
const plugin_descriptor* describe_plugin(std::vector<plugin_part> parts);

}  // namespace detail

/// An environment of a class that has a default constructor. A final class is stepped without
/// virtual calls.
template <class Env>
  requires std::is_base_of_v<environment, Env> && std::is_default_constructible_v<Env>
plugin_world plugin_environment(std::string id, plugin_options options = {}) {
  return {.id = std::move(id),
          .options = options,
          .one =
              [](const std::string& json) {
                detail::refuse_plugin_options(json);
                return std::make_unique<Env>();
              },
          .many =
              [](std::size_t size, const std::string& json) {
                detail::refuse_plugin_options(json);
                return std::make_unique<vector_env<Env>>(size);
              }};
}

/// An environment of a class that is constructed from the JSON object of env.options, which it
/// checks: `explicit maze(const std::string& json)`.
template <class Env>
  requires std::is_base_of_v<environment, Env> && std::is_constructible_v<Env, const std::string&>
plugin_world plugin_environment_with_options(std::string id, plugin_options options = {}) {
  return {.id = std::move(id),
          .options = options,
          .one = [](const std::string& json) { return std::make_unique<Env>(json); },
          .many = nullptr};
}

/// A class derived from vector_environment that is constructed from the number of its environments.
template <class Env>
  requires std::is_base_of_v<vector_environment, Env> && std::is_constructible_v<Env, std::size_t>
plugin_world plugin_vector_environment(std::string id, plugin_options options = {}) {
  return {.id = std::move(id),
          .options = options,
          .one = nullptr,
          .many = [](std::size_t size, const std::string& json) {
            detail::refuse_plugin_options(json);
            return std::make_unique<Env>(size);
          }};
}

}  // namespace troupe

/// Makes the shared object a plug-in with these parts, one or more of troupe::plugin_world,
/// troupe::plugin_encoder and troupe::plugin_algorithm. It stands once in a plug-in, outside of
/// every namespace.
#define TROUPE_PLUGIN(...)                                                               \
  extern "C" [[gnu::visibility("default")]] const troupe::detail::plugin_descriptor*     \
  troupe_plugin() {                                                                      \
    static const auto* const described = troupe::detail::describe_plugin({__VA_ARGS__}); \
    return described;                                                                    \
  }
