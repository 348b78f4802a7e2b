#include "actors/recorder/recording_file.hpp"

#include <stdexcept>
#include <system_error>

namespace troupe {

namespace {

append_file empty_file(const std::filesystem::path& path) {
  std::error_code none;
  if (std::filesystem::file_size(path, none) > 0 && !none)
    throw std::invalid_argument(path.string() +
                                ": expected no file or an empty one, since a recording is of one "
                                "run, got a file with text");
  return append_file(path, detail::file_kinds::any);
}

}  // namespace

recording_file::recording_file(const std::filesystem::path& path)
    : file_(empty_file(path)), last_id_(0) {}

// What has a number takes more than a byte, so no number of the file is as large as its size.
recording_file::recording_file(const std::filesystem::path& path, std::int64_t size)
    : file_(append_file::reopen_lines(path, size, detail::file_kinds::any)), last_id_(size) {}

std::int64_t recording_file::next_id() {
  const std::scoped_lock lock(mutex_);
  return ++last_id_;
}

void recording_file::append(std::string_view line) {
  const std::scoped_lock lock(mutex_);
  file_.append(line);
}

std::int64_t recording_file::size() const {
  const std::scoped_lock lock(mutex_);
  return file_.size();
}

}  // namespace troupe
