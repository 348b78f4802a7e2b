#pragma once
// The folder of a run and the names of its files.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stdexcept>
#include <string>

namespace troupe {

/// Thrown if the folder of a run can't be made or found.
class run_directory_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The folder with the results of a run, such as `runs/ppo/CartPole-v1_1/`. The object is cheap to
/// copy and owns no file.
class run_directory {
 public:
  /// Makes the folder `root/algo/env_k`, where k is one above the highest number there, starting at
  /// 1. Programs that start at the same moment get different folders. A '/' in a name becomes '-'
  /// (ALE/Pong-v5). Throws run_directory_error if the folder can't be made, or if a name is empty
  /// or starts with '.'.
  static run_directory create(const std::filesystem::path& root, const std::string& algo,
                              const std::string& env);

  /// Opens an existing run. `path` may be a link. Throws run_directory_error if it is not a folder,
  /// and if one of a run's own files or folders in it is a link, a FIFO or a device: somebody else
  /// may have made the run, and these are read, and written when it goes on.
  static run_directory open(const std::filesystem::path& path);

  /// Returns the run that `create` made last with these arguments, or nullopt if there is none.
  static std::optional<run_directory> newest(const std::filesystem::path& root,
                                             const std::string& algo, const std::string& env);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path config_json() const { return path_ / "config.json"; }
  /// Reads config.json. Throws config_error if it can't be read or is no JSON.
  nlohmann::json config() const;
  std::filesystem::path progress_csv() const { return path_ / "progress.csv"; }
  std::filesystem::path learning_curve_png() const { return path_ / "learning_curve.png"; }
  std::filesystem::path summary_json() const { return path_ / "summary.json"; }
  std::filesystem::path best_model() const { return path_ / "best_model"; }
  std::filesystem::path last_model() const { return path_ / "last_model"; }

 private:
  explicit run_directory(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
};

/// Reads the config.json of a run. Throws config_error if it can't be read or is no JSON.
nlohmann::json read_run_config(const std::filesystem::path& config_json);

}  // namespace troupe
