#pragma once
// Which code an encoder's name has a program load. actors/gradients/own_network.cpp has these
// functions.

#include <string>

namespace troupe {

/// Loads the plug-in that the name of an encoder means. Does nothing for another name. Throws
/// plugin_error. Call it only for a name that the user has chosen, or that of a run that the user
/// trusts.
void load_encoder(const std::string& name);

/// Returns whether the name means a plug-in that load_encoder or make_encoder has not loaded, as
/// that of a model file may. Such a file must not choose what runs.
bool is_unloaded_plugin(const std::string& name);

}  // namespace troupe
