#pragma once
// Writes the history of this process.

#include <exception>
#include <filesystem>
#include <string>

#include "runtime/base/outcome.hpp"
#include "tests/chaos/net/record.hpp"

namespace troupe::chaos {

/// The folder of the histories of a run: that of the environment variable CHAOS_NET_FOLDER, which
/// controllers, nodes and their child processes have in common.
std::filesystem::path history_folder();

/// Seconds of the monotonic clock.
double now_s();

/// Replaces the file. A process that is killed meanwhile leaves the old or the new one.
void replace_file(const std::filesystem::path& path, const std::string& text);

/// Appends the record to the file of this process. The time and the process are filled in.
void write_record(record of);

/// A call, from the time at which it begins. The history also says so if it is destroyed before its
/// end.
class operation {
 public:
  operation(std::string id, std::string kind, bool once, double deadline);
  operation(const operation&) = delete;
  ~operation();

  double begun_at() const { return begun_at_; }

  void answered(std::int64_t value, std::int64_t expected);
  void failed(const std::exception_ptr& error);
  /// True if it was answered.
  template <class T>
  bool end(const outcome<T>& got, std::int64_t expected) {
    if (got.ok()) {
      answered(static_cast<std::int64_t>(got.value()), expected);
    } else {
      failed(got.error());
    }
    return got.ok();
  }

 private:
  const std::string id_;
  const double begun_at_;
  bool ended_ = false;
};

}  // namespace troupe::chaos
