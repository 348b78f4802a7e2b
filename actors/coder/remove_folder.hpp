#pragma once
// Internal to coder/: how a folder is removed that someone else has filled.

#include <string>

#include "actors/coder/scratch_folder.hpp"

namespace troupe {

/// Removes the folder `name` in `outer`, a folder that its owner can't write to, and counts in
/// `removed` what was in it. What is a folder within it is moved to `outer` before it is emptied in
/// its turn: however deep they were, no path is long and no more than two are open. Nothing is
/// looked up by a path through what others may write to, so that a link which one of them puts
/// there meanwhile leads nowhere. Throws std::system_error.
void remove_folder(const detail::descriptor& outer, const std::string& name,
                   folder_content& removed);

}  // namespace troupe
