#pragma once
// Internal to coder/: removes a folder whose content comes from another user.

#include <string>

#include "actors/coder/scratch_folder.hpp"

namespace troupe {

/// Removes the folder `name` in `outer`, to which the owner of `name` can't write, and counts its
/// content in `removed`. A folder within it is moved to `outer` before it is emptied in turn, so
/// that at any depth no path is long and no more than two folders are open. No path goes through a
/// folder that others can write to, so that a link which they create meanwhile has no effect.
/// Throws std::system_error.
void remove_folder(const detail::descriptor& outer, const std::string& name,
                   folder_content& removed);

}  // namespace troupe
