#pragma once
// Recordings of text worlds, which play the same episodes again without the worlds:
//
//   auto recording = std::make_shared<recording_file>("episodes.jsonl");
//   spec.make = recorded(std::move(spec.make), recording);         // the first run
//   spec.make = replayed(read_episodes("episodes.jsonl"));         // later runs
//
// A line of the file is the world's answer to a reset or to a reply; `id` is that of the episode:
//
//   {"id": 4, "seed": 7, "item": {}, "episode": 0, "step": STEP}
//   {"id": 4, "reply": "5", "step": STEP}
//   {"id": 4, "reply": "6", "failed": "why"}
//
// A STEP has the members of text_step that are not their defaults. The last line here is of a world
// that has failed.

#include <filesystem>
#include <memory>

#include "actors/recorder/recording_file.hpp"
#include "actors/text/text_environment.hpp"

namespace troupe {

/// Returns the maker of worlds that play those of `make` and record each of their answers. One that
/// can't be written is lost for the recording, which is logged; the episode itself goes on.
text_environment_maker recorded(text_environment_maker make,
                                std::shared_ptr<recording_file> recording);

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
