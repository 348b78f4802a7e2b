#pragma once
// The choice of an environment, and of what is done with it.

#include <string>

#include "actors/environments/wrappers.hpp"
#include "actors/python/python_options.hpp"

namespace troupe {

struct environment_request {
  /// A registered id, "gymnasium:ID", "pettingzoo:MODULE" or "module:Class" for an environment in
  /// Python (python_environment.hpp), or the path of a plug-in (actors/worlds/plugin_loader.hpp).
  std::string id;
  /// The arguments of the environment, a JSON object: those of gymnasium.make and of the class in
  /// Python, and those with which a built-in environment is registered.
  std::string options = "{}";
  /// The options of each reset, a JSON object, as Gymnasium's reset(options=...) takes them.
  std::string reset_options = "{}";
  wrapper_options wrappers = {};
  /// Used for environments in Python only, except for step_timeout and reset_timeout.
  python_options python = {};
  bool operator==(const environment_request&) const = default;
};

}  // namespace troupe
