#pragma once
// The language models that `troupe models get` installs, and the user's folder that they are in.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace troupe::llm {

/// A language model that `troupe models get` installs, which is a file of a Python package.
struct known_model {
  const char* name;
  const char* what;
  const char* package;  ///< the package and its version, as pip takes them
  const char* file;     ///< the path of the file in the package
  const char* sha256;   ///< the SHA-256 of the file
  std::int64_t bytes;   ///< the size of the file
};

std::span<const known_model> known_models();

/// The model with this name. Throws std::invalid_argument that lists the known names.
const known_model& find_model(const std::string& name);

/// The folder ${XDG_CACHE_HOME:-~/.cache}/troupe/models. Throws std::runtime_error if the user has
/// no home directory.
std::filesystem::path models_folder();
/// The path of the model's file, whether it is installed or not.
std::filesystem::path installed_path(const known_model& model);

/// The file of the installed model of this name; anything else is returned as it is. Throws
/// std::invalid_argument if a known model is not installed.
std::filesystem::path path_of_model(const std::string& model);

/// The existing path that MODEL on the command line means, which is a path or the name of an
/// installed model. Throws std::invalid_argument if it is neither.
std::filesystem::path resolve_model(const std::string& model);

}  // namespace troupe::llm
