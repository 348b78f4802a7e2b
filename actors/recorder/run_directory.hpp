#pragma once
// The folder of a run and the names of its files.

#include <filesystem>
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

  /// Opens an existing run. Throws run_directory_error if `path` is not a folder.
  static run_directory open(const std::filesystem::path& path);

  /// Returns the run that `create` made last with these arguments, or nullopt if there is none.
  static std::optional<run_directory> newest(const std::filesystem::path& root,
                                             const std::string& algo, const std::string& env);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path config_json() const { return path_ / "config.json"; }
  std::filesystem::path progress_csv() const { return path_ / "progress.csv"; }
  std::filesystem::path learning_curve_png() const { return path_ / "learning_curve.png"; }
  std::filesystem::path summary_json() const { return path_ / "summary.json"; }
  std::filesystem::path best_model() const { return path_ / "best_model"; }
  std::filesystem::path last_model() const { return path_ / "last_model"; }

 private:
  explicit run_directory(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
};

}  // namespace troupe
