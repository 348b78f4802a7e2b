#pragma once
// Recordings of text worlds, which play the same episodes again without the worlds:
//
//   auto recording = std::make_shared<episode_recording>("episodes.jsonl");
//   spec.make = recorded(std::move(spec.make), recording);         // the first run
//   spec.make = replayed(read_episodes("episodes.jsonl"));         // later runs
//
// A line of the file is an episode:
//
//   {"seed": 7, "item": {}, "episode": 0, "first": STEP, "turns": [{"reply": "5", "step": STEP}]}
//
// A STEP has the members of text_step that are not their defaults. An episode whose world has
// failed ends with {"reply": "5", "failed": "why"}.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "actors/recorder/file_io.hpp"
#include "actors/text/text_environment.hpp"

namespace troupe {

/// A file that episodes are appended to. Any thread may use it.
class episode_recording {
 public:
  /// Creates the file. Throws std::system_error that names the path, and std::invalid_argument for
  /// a file that is there and not empty, since a recording is of one run.
  explicit episode_recording(const std::filesystem::path& path);
  /// Continues a file after its first `size` bytes and removes the bytes that follow.
  episode_recording(const std::filesystem::path& path, std::int64_t size);

  /// Writes a line. Throws std::system_error; the file is then unchanged.
  void append(std::string_view line);
  std::int64_t size() const;

 private:
  mutable std::mutex mutex_;
  append_file file_;
};

/// Returns the maker of worlds that play those of `make` and record each episode when it ends, when
/// its world fails, or when another one begins. An episode that can't be written is lost for the
/// recording, which is logged; the episode itself goes on.
text_environment_maker recorded(text_environment_maker make,
                                std::shared_ptr<episode_recording> recording);

/// The episodes of a file. Any thread may use them.
class recorded_episodes;

/// Reads a recording. Throws jsonl_error that names the line.
std::shared_ptr<recorded_episodes> read_episodes(const std::filesystem::path& path);

/// Returns the maker of worlds that answer as they did in the recording: an episode with the same
/// text_reset and the same replies gets the same steps, and fails where that one has failed. If
/// several episodes fit, those that were played less often come first. Throws std::runtime_error
/// where no episode fits.
text_environment_maker replayed(std::shared_ptr<recorded_episodes> episodes);

}  // namespace troupe
