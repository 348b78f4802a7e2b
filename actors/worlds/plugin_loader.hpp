#pragma once
// Loads plug-ins (plugin.hpp) into this process.

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "actors/worlds/plugin.hpp"

namespace troupe {

/// Thrown for a plug-in that can't be loaded. The message names the file, what was expected and
/// what is there.
class plugin_error : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// True if the name of an environment, a network or an algorithm means one in a plug-in: a path
/// that ends in ".so", or such a path with an id, as in "./mazes.so:Maze-v1".
bool names_plugin(std::string_view name);

/// True if the name means something in a plug-in that this process has loaded. Loads nothing.
bool is_loaded_plugin(std::string_view name);

/// Returns the environment of that name. Loads the plug-in at its first use; it stays loaded until
/// the program ends. Throws plugin_error for a file that isn't there, is no shared object, is no
/// plug-in, was built with another build of Troupe, has no environments or several of one id, and
/// for a name without an id if the plug-in has several environments. Any thread may call this
/// function and the next ones.
const plugin_world& plugin_world_of(std::string_view name);
/// Returns the network of that name, with the same exceptions.
const plugin_encoder& plugin_encoder_of(std::string_view name);
/// Returns the algorithm of that name, with the same exceptions.
const plugin_algorithm& plugin_algorithm_of(std::string_view name);

}  // namespace troupe
