#pragma once
// MP4 files, encoded by the program ffmpeg.

#include <sys/types.h>

#include <chrono>
#include <string>

#include "actors/video/video_file.hpp"
#include "runtime/base/descriptor.hpp"

namespace troupe {

/// A video in MP4. The pictures go to a child process, `ffmpeg`, which is found on the PATH.
/// Pictures of an odd width or height get a black row or column more, as H.264 wants even ones.
class ffmpeg_file final : public video_file {
 public:
  /// How long ffmpeg may take to accept a picture and, at the end, to complete the file. The
  /// functions throw std::runtime_error afterwards.
  static constexpr std::chrono::seconds patience{120};

  ffmpeg_file(const std::filesystem::path& path, const video_format& format);
  ~ffmpeg_file() override;
  ffmpeg_file(const ffmpeg_file&) = delete;

  void add(std::span<const std::uint8_t> rgb) override;
  void finish() override;

 private:
  using clock = std::chrono::steady_clock;

  void start(const video_format& format);
  /// Waits for `event` of `descriptor`, or for messages, which it reads. Fails at the deadline.
  void wait(int descriptor, short event, clock::time_point deadline);
  void read_messages();
  /// Tells ffmpeg that no more pictures come, waits for its end and returns its wait status.
  int close(clock::time_point deadline);
  /// Waits for the end of ffmpeg, which has ended or is killed, and returns its wait status.
  int reap();
  void kill();
  /// Kills ffmpeg if it runs, and throws std::runtime_error with its last messages.
  [[noreturn]] void fail(const std::string& reason);

  std::filesystem::path path_, part_;
  bool is_finished_ = false;
  detail::descriptor pictures_;  // a socket: a write to a dead reader raises no signal
  detail::descriptor messages_;  // ffmpeg's standard error; closed once it has ended
  std::string said_;             // the end of the messages
  pid_t pid_ = 0;                // 0: it doesn't run
};

}  // namespace troupe
