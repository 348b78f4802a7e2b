#pragma once
// GIF files, written with giflib.

#include <memory>
#include <string>
#include <vector>

#include "actors/environments/canvas.hpp"
#include "actors/recorder/file_io.hpp"
#include "actors/video/video_file.hpp"

struct GifFileType;

namespace troupe {

/// A GIF (version 89a) that repeats for ever. A picture is stored as the rectangle in which it
/// differs from the one before, with a palette of its own.
///
/// GIF counts time in hundredths of a second, so pictures are shown for the whole hundredths that
/// come nearest; and no shorter than two of them, as browsers show shorter ones for ten. So 50
/// pictures a second is the fastest.
class gif_file final : public video_file {
 public:
  gif_file(const std::filesystem::path& path, const video_format& format);
  ~gif_file() override;
  gif_file(const gif_file&) = delete;

  void add(std::span<const std::uint8_t> rgb) override;
  void finish() override;

 private:
  struct rectangle {
    int left, top, width, height;
  };

  /// Returns the smallest rectangle, of 1 x 1 at least, in which the picture is new.
  rectangle changed(const std::vector<canvas::colour>& picture) const;
  void put_header();
  void put_picture(const std::vector<canvas::colour>& picture, const rectangle& where);
  /// Throws the reason of giflib if `status` says that it failed.
  void need(int status) const;
  /// Writes what giflib has made to the file.
  void flush();
  /// Returns the delay of the next picture in hundredths of a second.
  int next_delay();

  std::filesystem::path path_;
  video_format format_;
  append_file file_;
  bool is_finished_ = false;
  GifFileType* gif_ = nullptr;
  std::string made_;  // the bytes that giflib has made and that aren't in the file yet
  std::vector<canvas::colour> shown_;  // [height, width] the picture before; empty at first
  std::int64_t count_ = 0;             // pictures so far
};

}  // namespace troupe
