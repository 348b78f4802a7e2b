#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "tests/test.hpp"

namespace troupe::testing {

/// What is written to stdout or stderr while it lives.
class captured_stream {
 public:
  explicit captured_stream(std::FILE* stream)
      : stream_(stream), file_(std::tmpfile()), before_(::dup(::fileno(stream))) {
    std::fflush(stream_);
    ::dup2(::fileno(file_), ::fileno(stream_));
  }
  ~captured_stream() {
    std::fflush(stream_);
    ::dup2(before_, ::fileno(stream_));
    ::close(before_);
    std::fclose(file_);
  }
  captured_stream(const captured_stream&) = delete;
  captured_stream& operator=(const captured_stream&) = delete;

  std::string text() const {
    std::fflush(stream_);
    struct stat facts{};
    REQUIRE(::fstat(::fileno(file_), &facts) == 0);
    std::string text(static_cast<std::size_t>(facts.st_size), ' ');
    REQUIRE(::pread(::fileno(file_), text.data(), text.size(), 0) == facts.st_size);
    return text;
  }

 private:
  std::FILE* stream_;
  std::FILE* file_;
  int before_;
};

/// What is written to stderr while it lives.
class captured_stderr : public captured_stream {
 public:
  captured_stderr() : captured_stream(stderr) {}
};

}  // namespace troupe::testing
