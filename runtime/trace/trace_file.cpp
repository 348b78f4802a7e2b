#include "runtime/trace/trace_file.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "runtime/base/error.hpp"
#include "runtime/base/file_refusal.hpp"
#include "runtime/base/log.hpp"
#include "runtime/trace/trace_json.hpp"

namespace troupe {

trace_file::trace_file(std::string path) : path_(std::move(path)) {
  if (path_.empty()) return;
  const auto refuse = [&](const std::string& why) {
    return trace_file_error("--trace: cannot write " + path_ + ": " + why);
  };
  const auto no_place = [&](const std::string& why) {
    return refuse(why + "; expected a file in a folder that can be written to");
  };
  try {
    // The file is there afterwards, and opening it again does not wait.
    detail::open_file(path_, O_WRONLY | O_CREAT, detail::file_kinds::regular_linked);
  } catch (const refused_file& e) {
    throw refuse(detail::reason_of(e, path_));
  } catch (const std::system_error& e) {
    throw no_place(detail::reason_of(e, path_));
  }
  errno = 0;
  file_.open(path_);
  if (!file_) throw no_place(std::strerror(errno));
  trace_ = std::make_shared<class trace>();
}

trace_file::~trace_file() {
  if (!trace_) return;
  try {
    write_trace(*trace_, file_);
    errno = 0;
    file_.close();
    if (!file_) throw std::runtime_error(std::strerror(errno));
    log::info("the trace is written; chrome://tracing and https://ui.perfetto.dev show it",
              {{"file", path_}, {"slices", trace_->size()}});
  } catch (const std::exception& e) {
    log::error("the trace could not be written", {{"file", path_}, {"error", e.what()}});
  }
}

}  // namespace troupe
