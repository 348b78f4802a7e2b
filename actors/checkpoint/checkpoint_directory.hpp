#pragma once
// The checkpoints of one run on the disk. A checkpoint is a folder:
//
//   checkpoints/ckpt-20480/            20480: environment steps
//     trainer.bin, replay.bin, ...     states
//     manifest.json                    what it is of, and each file's size and SHA-256
//     manifest.sha256                  the manifest's, in the form that `sha256sum -c` reads
//
// It is written as ckpt-20480.tmp, flushed file by file and renamed, so that a folder without
// ".tmp" was once whole. What has happened to it since, its hashes tell. One that is written over
// another of its step changes names with it. Where the file system can't do that at once, the other
// is ckpt-20480.old in between: after a crash, it is read from there.

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

/// What only a checkpoint of the same can be gone on from.
struct checkpoint_kind {
  std::string algorithm;    ///< "ppo"
  std::string environment;  ///< "CartPole-v1"
  std::string network;      ///< Its shape as text.
  bool operator==(const checkpoint_kind&) const = default;
};

/// "ppo on CartPole-v1 with a network of obs 4, discrete 2, hidden 64 64, tanh"
std::string to_string(const checkpoint_kind& kind);

/// Everything that a run goes on from.
struct checkpoint {
  checkpoint_kind kind;
  std::int64_t step = 0;                     ///< Environment steps done; names the folder.
  std::string config_sha256;                 ///< Of the run's resolved configuration.
  std::map<std::string, std::string> files;  ///< Name to bytes.

  /// Bytes of all files.
  std::size_t size() const;
};

/// A good checkpoint that is of another algorithm, environment or network than the run to be
/// resumed, or of a format that this program doesn't know.
class checkpoint_mismatch : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What is there is not what was written, or no part of it is. The message names the file. Bytes
/// that can't be read (std::system_error) may still be whole.
class checkpoint_damaged : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws checkpoint_mismatch naming `where` and both, unless it is of the kind that is expected.
void require_kind(const checkpoint& state, const checkpoint_kind& expected,
                  const std::string& where);

/// For one process at a time.
class checkpoint_directory {
 public:
  /// Nothing is touched before the first call. `keep`: how many stay; at least 1.
  explicit checkpoint_directory(std::filesystem::path folder, std::size_t keep = 3);

  /// Writes one checkpoint, then removes all but the newest `keep` up to its step, and those that
  /// are `abandoned`. Others of later steps stay: damaged ones, until the run comes to their steps.
  /// On a full disk older ones make room first, but for the newest whole one. Throws
  /// std::system_error; that one is then still there. Returns the folder.
  std::filesystem::path write(const checkpoint& state,
                              std::span<const std::int64_t> abandoned = {}) const;

  /// Steps of the checkpoints that are there, good or not; the newest first. None where there is no
  /// such folder. Throws std::system_error where it can't be read.
  std::vector<std::int64_t> steps() const;

  /// Those of steps() after `step` that are whole. A run that goes on from `step` abandons them:
  /// they belong to a future that is not its own. Throws as load.
  std::vector<std::int64_t> whole_after(std::int64_t step) const;

  /// The checkpoint of `step`. Throws checkpoint_damaged, checkpoint_mismatch if its format is
  /// unknown, and std::system_error if it can't be read.
  checkpoint load(std::int64_t step) const;

  /// The newest one that is whole; `refused` is told of each damaged one that was passed over, and
  /// why. None: there is no checkpoint. Throws checkpoint_damaged naming each where all are
  /// damaged, checkpoint_mismatch naming both if it is of another kind, and as load.
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
