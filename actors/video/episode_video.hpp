#pragma once
// The video of the episodes that a vector environment of one environment plays.

#include <cstdint>
#include <memory>
#include <string>

#include "actors/environments/vector_environment.hpp"
#include "actors/video/cairo_canvas.hpp"
#include "actors/video/video_file.hpp"

namespace troupe {

struct episode_video_options {
  std::filesystem::path file;       ///< Ends in .gif or .mp4.
  std::size_t episodes = 1;         ///< Episodes to show, one after the other.
  std::size_t frames_max = 10'000;  ///< The pictures after these are left out.
};

/// Draws the first picture of each episode and one after each step:
///
///     episode_video video({.file = "cartpole.gif"}, *environments);
///     environments->reset(seed);
///     video.begin(*environments);
///     while (!video.complete()) video.add(*environments, environments->step(...));
///     video.finish();
class episode_video {
 public:
  /// Resets `like` to see a picture of it, whose size the video has, and makes the file. Pictures
  /// of other sizes are scaled to it. Throws std::invalid_argument if there is not exactly one
  /// environment, if it has no picture, and like `open_video`.
  episode_video(const episode_video_options& options, vector_environment& like);

  /// Draws the first picture of an environment equal to `like` that was reset. Call it once. The
  /// environment draws the last pictures of its episodes on this object from now on.
  void begin(vector_environment& of);
  /// Draws what `step` of that environment led to. Does nothing if the video is complete.
  void add(vector_environment& of, const env_step& after);
  /// Whether all episodes, or frames_max pictures, have been added.
  bool complete() const { return ended_ == options_.episodes || is_cut(); }
  /// Completes the file.
  void finish() { file_->finish(); }

  std::size_t episodes() const { return options_.episodes; }
  std::size_t frames() const { return frames_; }  ///< The pictures so far.
  double seconds() const { return static_cast<double>(frames_) / format_.fps; }
  const video_format& format() const { return format_; }
  bool is_cut() const { return frames_ == options_.frames_max; }

 private:
  void draw(vector_environment& of);
  void put();

  episode_video_options options_;
  cairo_canvas canvas_;
  video_format format_;
  std::unique_ptr<video_file> file_;
  std::size_t frames_ = 0, ended_ = 0;
};

}  // namespace troupe
