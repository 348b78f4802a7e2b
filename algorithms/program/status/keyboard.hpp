#pragma once

#include <termios.h>

#include <chrono>

namespace troupe::command {

/// While it lives, keys come at once and unseen, and the terminal shows a screen of its own; then
/// it is as it was. q and Ctrl-C quit.
class keyboard {
 public:
  keyboard();
  ~keyboard();
  keyboard(const keyboard&) = delete;

  /// Waits for a key that quits, or for the input's end; false if none comes in that time.
  bool quits_within(std::chrono::milliseconds time);

 private:
  termios before_{};
  bool changed_ = false;
};

}  // namespace troupe::command
