#pragma once
// Where the model of a run lies.

#include <filesystem>
#include <string>

#include "actors/recorder/run_directory.hpp"

namespace troupe {

/// Returns the path of the run's "last_model" or "best_model". Throws std::invalid_argument for
/// another name, and if there is no such file; the message then names the other model if there is
/// that, with `option` before its name, such as "--model ".
std::filesystem::path model_of_run(const run_directory& run, const std::string& which,
                                   const std::string& option = "");

/// Returns `path` if it is a file, or else the model `which` of the run directory `path`. Throws
/// model_file_error for a folder that is no run directory, such as a checkpoint or the folder of a
/// language model, and as model_of_run.
std::filesystem::path model_path(const std::filesystem::path& path, const std::string& which);

}  // namespace troupe
