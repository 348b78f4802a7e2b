#pragma once
// Limits of time that messages name with the option that sets them.

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

namespace troupe::openenv {

/// The messages of requests that were not answered in time have these words and a limit.
inline constexpr std::string_view late_reply = "no reply within ";
/// The same for connections that were not ready in time.
inline constexpr std::string_view late_connection = "no connection within ";

/// The longest time that something may take, and the option that sets it.
struct named_limit {
  named_limit(std::chrono::milliseconds time, std::string option = {})
      : time(time), option(std::move(option)) {}
  /// Returns the limit for messages, such as "5000 ms (env.step_timeout)".
  std::string text() const {
    return std::to_string(time.count()) + " ms" + (option.empty() ? "" : " (" + option + ')');
  }

  std::chrono::milliseconds time;
  std::string option;  ///< Such as "env.step_timeout"; empty for a program's own limit.
};

}  // namespace troupe::openenv
