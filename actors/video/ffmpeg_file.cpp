#include "actors/video/ffmpeg_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "actors/recorder/file_io.hpp"
#include "runtime/process/pidfd.hpp"

namespace troupe {
namespace {

using detail::descriptor;

constexpr std::size_t said_max = 2000;  // bytes

/// Says how a process has ended.
std::string end_of(int status) {
  if (WIFSIGNALED(status)) return fmt::format("ffmpeg was ended by signal {}", WTERMSIG(status));
  return fmt::format("ffmpeg ended with exit code {}", WEXITSTATUS(status));
}

}  // namespace

ffmpeg_file::ffmpeg_file(const std::filesystem::path& path, const video_format& format)
    : path_(path), part_(detail::unfinished(path)) {
  // The file is made here, so that a folder that can't be written to is found before any picture.
  const append_file created(part_);
  try {
    start(format);
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove(part_, ignored);
    throw;
  }
}

ffmpeg_file::~ffmpeg_file() {
  kill();
  if (is_finished_) return;
  std::error_code ignored;
  std::filesystem::remove(part_, ignored);
}

void ffmpeg_file::start(const video_format& format) {
  int sockets[2], pipe[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot make a socket for ffmpeg");
  pictures_ = descriptor(sockets[0]);
  const descriptor input(sockets[1]);
  if (::pipe2(pipe, O_CLOEXEC) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot make a pipe for ffmpeg");
  messages_ = descriptor(pipe[0]);
  const descriptor output(pipe[1]);
  ::fcntl(messages_.number(), F_SETFL, O_NONBLOCK);

  // "file:" keeps ffmpeg from taking a name with a colon for a protocol's.
  std::vector<std::string> words{"ffmpeg",
                                 "-hide_banner",
                                 "-loglevel",
                                 "error",
                                 "-f",
                                 "rawvideo",
                                 "-pixel_format",
                                 "rgb24",
                                 "-video_size",
                                 fmt::format("{}x{}", format.width, format.height),
                                 "-framerate",
                                 fmt::format("{}", format.fps),
                                 "-i",
                                 "pipe:0",
                                 "-vf",
                                 "pad=ceil(iw/2)*2:ceil(ih/2)*2",
                                 "-pix_fmt",
                                 "yuv420p",
                                 "-movflags",
                                 "+faststart",
                                 "-f",
                                 "mp4",
                                 "-y",
                                 "file:" + part_.string()};
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input.number(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output.number(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output.number(), STDERR_FILENO);
  const int error = ::posix_spawnp(&pid_, "ffmpeg", &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error == 0) return;
  pid_ = 0;
  if (error == ENOENT)
    throw std::invalid_argument(
        "video: expected the program ffmpeg on the PATH, which makes " + path_.string() +
        ", got none; install it (`apt-get install ffmpeg`), or name a file that ends in .gif");
  throw std::system_error(error, std::generic_category(), "cannot start ffmpeg");
}

void ffmpeg_file::read_messages() {
  std::array<char, 4096> block;
  while (messages_) {
    const auto got = ::read(messages_.number(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return;
    if (got == 0) {
      messages_ = descriptor();
      return;
    }
    said_.append(block.data(), static_cast<std::size_t>(got));
    if (said_.size() > said_max) said_.erase(0, said_.size() - said_max);
  }
}

void ffmpeg_file::wait(int descriptor, short event, clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock::now());
  if (left.count() <= 0) fail(fmt::format("ffmpeg did nothing for {} s", patience.count()));
  std::array<pollfd, 2> on{pollfd{messages_.number(), POLLIN, 0}, pollfd{descriptor, event, 0}};
  if (::poll(on.data(), on.size(), static_cast<int>(left.count())) < 0 && errno != EINTR)
    throw std::system_error(errno, std::generic_category(), "cannot wait for ffmpeg");
  read_messages();
}

void ffmpeg_file::add(std::span<const std::uint8_t> rgb) {
  auto deadline = clock::now() + patience;
  while (!rgb.empty()) {
    wait(pictures_.number(), POLLOUT, deadline);
    const auto sent =
        ::send(pictures_.number(), rgb.data(), rgb.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      rgb = rgb.subspan(static_cast<std::size_t>(sent));
      deadline = clock::now() + patience;
    } else if (errno != EAGAIN && errno != EINTR) {
      fail(end_of(close(deadline)));
    }
  }
}

void ffmpeg_file::finish() {
  const int status = close(clock::now() + patience);
  if (status != 0) fail(end_of(status));
  std::filesystem::rename(part_, path_);
  is_finished_ = true;
}

int ffmpeg_file::close(clock::time_point deadline) {
  pictures_ = descriptor();
  while (messages_) wait(-1, 0, deadline);
  const descriptor handle(::pidfd_open(pid_, 0), "watch ffmpeg");
  pollfd ended{handle.number(), POLLIN, 0};
  while (::poll(&ended, 1, 0) == 0) wait(handle.number(), POLLIN, deadline);
  return reap();
}

int ffmpeg_file::reap() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
  return status;
}

void ffmpeg_file::kill() {
  if (pid_ == 0) return;
  ::kill(pid_, SIGKILL);
  reap();
}

void ffmpeg_file::fail(const std::string& reason) {
  kill();
  throw std::runtime_error("cannot make " + path_.string() + ": " + reason +
                           (said_.empty() ? "" : ": " + said_));
}

}  // namespace troupe
