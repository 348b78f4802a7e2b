#include "actors/recorder/held_run.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "actors/recorder/file_io.hpp"
#include "runtime/base/regular_file.hpp"

namespace troupe {
namespace {

[[noreturn]] void fail(const run_directory& run) {
  throw run_directory_error("cannot write to the run directory " + run.path().string() + ": " +
                            std::strerror(errno) + "; expected a folder that can be written to");
}

/// Returns the holder of a lock as it is written in the file, such as "process 4711". Returns
/// "another process" if nothing is written there, as on a full disk.
std::string holder_in(int file) {
  char text[32];
  const auto size = ::pread(file, text, sizeof text, 0);
  return size > 0 ? "process " + std::string(text, static_cast<std::size_t>(size))
                  : std::string("another process");
}

}  // namespace

run_lock::run_lock(const run_directory& run) {
  if (::access(run.path().c_str(), W_OK | X_OK) != 0) fail(run);
  const auto path = run.path() / ".lock";
  try {
    file_ = detail::open_file(path, O_RDWR | O_CREAT, detail::file_kinds::regular);
  } catch (const std::system_error& error) {
    throw run_directory_error("cannot lock the run directory: " + std::string(error.what()));
  }
  if (::flock(file_.number(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return;  // The file system has no locks.
    throw run_directory_error("the run directory " + run.path().string() + " is in use: " +
                              holder_in(file_.number()) + " writes to it; expected one at a time");
  }
  const auto self = std::to_string(::getpid());
  // The process id is only for error messages. The lock holds without it, too.
  if (::ftruncate(file_.number(), 0) != 0) return;
  [[maybe_unused]] const auto written = ::pwrite(file_.number(), self.data(), self.size(), 0);
}

held_run begin_run(const std::filesystem::path& root, const std::string& algo,
                   const std::string& env, const std::string& config) {
  auto made = run_directory::create(root, algo, env);
  try {
    auto lock = std::make_shared<const run_lock>(made);
    write_file_atomically(made.config_json(), config);
    return {std::move(made), std::move(lock)};
  } catch (const std::exception& error) {
    std::error_code ignored;
    std::filesystem::remove_all(made.path(), ignored);
    throw run_directory_error(error.what());
  }
}

}  // namespace troupe
