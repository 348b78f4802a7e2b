#pragma once
// Internal to sandbox/: the files of a run, which are reached from outside of its sandbox.

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/base/descriptor.hpp"

namespace troupe {

/// Writes files into a folder, in place of those that it has. No link in it is followed. The owner
/// is `user`, or this process's if it is 0. Throws std::invalid_argument for a name that is no path
/// below the folder, and for more than the folder holds.
void put_files(const detail::descriptor& folder, const std::map<std::string, std::string>& files,
               uid_t user);

/// Reads those of the named files that there are, `bytes_max` bytes at most together; `cut` is set
/// if there was more. A name that leads through a link, out of the folder, or to something other
/// than a file counts as one that there is not.
std::map<std::string, std::string> take_files(const detail::descriptor& folder,
                                              const std::vector<std::string>& names,
                                              std::int64_t bytes_max, bool& cut);

/// Throws std::invalid_argument for a name that is no path below a folder.
void check_file_name(const std::string& name);

}  // namespace troupe
