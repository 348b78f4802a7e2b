#pragma once
// The checkpoints of one run on disk. A checkpoint is a folder:
//
//   checkpoints/ckpt-20480/            20480: environment steps
//     trainer.bin, replay.bin, ...     states
//     manifest.json                    what it is of, and each file's size and SHA-256
//     manifest.sha256                  the manifest's, in the form that `sha256sum -c` reads
//
// A checkpoint is written as ckpt-20480.tmp, flushed file by file and renamed, so a folder without
// ".tmp" was complete once. Its hashes show later damage. A new checkpoint for a step that already
// has one exchanges names with the old one. If the file system can't do that atomically, the old
// one is renamed to ckpt-20480.old meanwhile, and after a crash it is read from there.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace troupe {

/// Identifies what a checkpoint is of. A run can only resume a checkpoint of the same kind.
struct checkpoint_kind {
  std::string algorithm;    ///< The algorithm, such as "ppo".
  std::string environment;  ///< The environment, such as "CartPole-v1".
  std::string network;      ///< The shape of the network as a text.
  bool operator==(const checkpoint_kind&) const = default;
};

/// Returns a text such as "ppo on CartPole-v1 with a network of obs 4, discrete 2, hidden 64 64,
/// tanh".
std::string to_string(const checkpoint_kind& kind);

/// The complete state from which a run can resume.
struct checkpoint {
  checkpoint_kind kind;
  /// The number of environment steps done, which names the folder.
  std::int64_t step = 0;
  std::string config_sha256;                 ///< The SHA-256 of the run's resolved configuration.
  std::map<std::string, std::string> files;  ///< The content of each file by its name.

  /// The size of all files in bytes.
  std::size_t size() const;
};

/// Thrown for an undamaged checkpoint that is of another algorithm, environment or network than the
/// run to be resumed, or of a format that this program doesn't know.
class checkpoint_mismatch : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Thrown if a checkpoint is not as it was written, or is missing. The message names the file.
/// Files that can't be read throw std::system_error instead, because they may be undamaged.
class checkpoint_damaged : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws checkpoint_mismatch naming `where` and both kinds unless `state` is of the expected kind.
void require_kind(const checkpoint& state, const checkpoint_kind& expected,
                  const std::string& where);

/// The folder with the checkpoints of one run. Only one process may use it at a time.
class checkpoint_directory {
 public:
  /// `keep` is the number of checkpoints that are kept, at least 1. The constructor doesn't access
  /// the disk.
  explicit checkpoint_directory(std::filesystem::path folder, std::size_t keep = 3);

  /// Writes one checkpoint and returns its folder. Then it removes all checkpoints up to this step
  /// except the newest `keep`, and the `abandoned` ones. Other checkpoints of later steps, which
  /// are damaged, stay until the run comes to their steps. If the disk is full, older checkpoints
  /// are removed first, except for the newest undamaged one. Throws std::system_error; that one
  /// then still exists.
  std::filesystem::path write(const checkpoint& state,
                              std::span<const std::int64_t> abandoned = {}) const;

  /// Returns the steps of all checkpoints, damaged or not, the newest first; empty if the folder
  /// doesn't exist. Throws std::system_error if it can't be read.
  std::vector<std::int64_t> steps() const;

  /// Returns the steps of the undamaged checkpoints after `step`. A run that resumes from `step`
  /// abandons them, because they belong to another continuation. Throws like load.
  std::vector<std::int64_t> whole_after(std::int64_t step) const;

  /// Reads the checkpoint of `step`. Throws checkpoint_damaged, checkpoint_mismatch if its format
  /// is unknown, and std::system_error if it can't be read.
  checkpoint load(std::int64_t step) const;

  /// Reads the newest undamaged checkpoint. `refused` is called for each damaged one that is
  /// skipped, with the reason. Returns nullopt if there is no checkpoint. Throws checkpoint_damaged
  /// naming each if all are damaged, checkpoint_mismatch naming both kinds if it is of another
  /// kind, and like load.
  std::optional<checkpoint> load_newest(
      const checkpoint_kind& expected,
      const std::function<void(const std::filesystem::path&, const std::string& why)>& refused)
      const;

 private:
  std::filesystem::path place_of(std::int64_t step) const;
  std::filesystem::path found_at(std::int64_t step) const;
  void restore_replaced() const;
  bool is_whole(std::int64_t step) const;
  bool make_room(std::int64_t step) const;
  bool remove_leftovers() const;
  void remove_others(std::int64_t newest, std::span<const std::int64_t> abandoned) const;

  std::filesystem::path folder_;
  std::size_t keep_;
};

}  // namespace troupe
