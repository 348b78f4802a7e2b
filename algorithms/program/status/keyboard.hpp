#pragma once
// The keyboard and the screen of `troupe status --watch`.

#include <termios.h>

#include <chrono>

namespace troupe::command {

/// Switches the terminal to a screen of its own, without echo and line buffering, and restores it
/// when destroyed. The keys q and Ctrl-C quit.
class keyboard {
 public:
  keyboard();
  ~keyboard();
  keyboard(const keyboard&) = delete;

  /// Waits for a key that quits or for the end of input. Returns false if neither comes in `time`.
  bool quits_within(std::chrono::milliseconds time);

 private:
  termios before_{};
  bool changed_ = false;
};

}  // namespace troupe::command
