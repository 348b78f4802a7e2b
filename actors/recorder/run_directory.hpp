#pragma once

#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>

namespace troupe {

/// The folder of a run could not be made or found.
class run_directory_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Where a run leaves what it made: `runs/ppo/CartPole-v1_1/`. A cheap value; it owns no file.
class run_directory {
 public:
  /// Makes `root/algo/env_k` with k one above the highest there, from 1. Programs that start at the
  /// same moment get different ones. A '/' in a name becomes '-' (ALE/Pong-v5). Throws
  /// run_directory_error where the folder can not be made, or a name is empty or starts with '.'.
  static run_directory create(const std::filesystem::path& root, const std::string& algo,
                              const std::string& env);

  /// A run that was made before. Throws run_directory_error where `path` is not a folder.
  static run_directory open(const std::filesystem::path& path);

  /// The one of those that create() made last, if any.
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
