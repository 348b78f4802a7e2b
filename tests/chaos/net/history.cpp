#include "tests/chaos/net/history.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include "runtime/base/descriptor.hpp"
#include "runtime/base/error.hpp"

namespace troupe::chaos {

namespace {

/// The file of this process. A number of a process may come back in a long run.
detail::descriptor open_history() {
  const auto path =
      history_folder() / fmt::format("history-{}-{:.0f}.jsonl", getpid(), now_s() * 1e6);
  detail::descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (file.number() < 0)
    throw std::system_error(errno, std::generic_category(), "cannot write " + path.string());
  return file;
}

std::string name_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const call_error& e) {
    return std::string(to_string(e.kind()));
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an unknown exception";
  }
}

}  // namespace

std::filesystem::path history_folder() {
  const char* told = std::getenv("CHAOS_NET_FOLDER");
  if (told == nullptr) throw std::runtime_error("expected a folder in CHAOS_NET_FOLDER");
  return told;
}

double now_s() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

void replace_file(const std::filesystem::path& path, const std::string& text) {
  const auto fresh = path.string() + ".new";
  std::ofstream(fresh) << text;
  std::filesystem::rename(fresh, path);
}

void write_record(record of) {
  static const detail::descriptor file = open_history();
  of.process = getpid();
  if (of.at == 0) of.at = now_s();
  const auto line = to_line(of);
  // A line is written at once, so lines of several threads don't mix.
  if (write(file.number(), line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    throw std::system_error(errno, std::generic_category(), "cannot write the history");
}

operation::operation(std::string id, std::string kind, bool once, double deadline)
    : id_(std::move(id)), begun_at_(now_s()) {
  write_record({.what = record_kind::begun,
                .at = begun_at_,
                .id = id_,
                .kind = std::move(kind),
                .once = once,
                .deadline = deadline});
}

operation::~operation() {
  if (ended_) return;
  write_record({.what = record_kind::ended, .id = id_, .error = "given up"});
}

void operation::answered(std::int64_t value, std::int64_t expected) {
  ended_ = true;
  write_record(
      {.what = record_kind::ended, .id = id_, .ok = true, .value = value, .expected = expected});
}

void operation::failed(const std::exception_ptr& error) {
  ended_ = true;
  write_record({.what = record_kind::ended, .id = id_, .error = name_of(error)});
}

}  // namespace troupe::chaos
