#pragma once
// Log lines that a process tells once, however often their cause comes again.

#include <cstddef>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "runtime/base/log.hpp"

namespace troupe::log {

/// Keys that have been asked about. Any thread may use it.
class known_keys {
 public:
  /// Remembers the first `most` keys; each other one is then new every time.
  explicit known_keys(std::size_t most) : most_(most) {}

  /// Returns true for a key that is not remembered, and remembers it.
  bool is_new(std::string key);

 private:
  const std::size_t most_;
  std::mutex mutex_;
  std::set<std::string> keys_;
};

/// Returns true for a key that this process has not asked about before.
bool is_new(std::string key);

/// Log a line, unless this process has logged one with the same text and facts by these functions.
void info_once(std::string_view what, fields facts = {});
void warn_once(std::string_view what, fields facts = {});

}  // namespace troupe::log
