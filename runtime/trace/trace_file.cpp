#include "runtime/trace/trace_file.hpp"

#include <cerrno>
#include <cstring>

#include "runtime/base/error.hpp"
#include "runtime/base/log.hpp"
#include "runtime/trace/trace_json.hpp"

namespace troupe {

trace_file::trace_file(std::string path) : path_(std::move(path)) {
  if (path_.empty()) return;
  errno = 0;
  file_.open(path_);
  if (!file_) {
    throw trace_file_error("--trace: cannot write " + path_ + ": " + std::strerror(errno) +
                           "; expected a file in a folder that can be written to");
  }
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
