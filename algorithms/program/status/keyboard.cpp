#include "algorithms/program/status/keyboard.hpp"

#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <thread>

namespace troupe::command {

namespace {

constexpr char ctrl_c = 3, ctrl_d = 4;

}  // namespace

keyboard::keyboard() {
  if (tcgetattr(STDIN_FILENO, &before_) == 0) {
    auto raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG);
    changed_ = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
  }
  std::fputs("\x1b[?1049h\x1b[?25l", stdout);  // switches to the other screen, hides the cursor
}

keyboard::~keyboard() {
  std::fputs("\x1b[?25h\x1b[?1049l", stdout);
  std::fflush(stdout);
  if (changed_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

bool keyboard::quits_within(std::chrono::milliseconds time) {
  if (!changed_) {  // There is no terminal to type at. A signal ends the program.
    std::this_thread::sleep_for(time);
    return false;
  }
  const auto end = std::chrono::steady_clock::now() + time;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd input{STDIN_FILENO, POLLIN, 0};
    if (poll(&input, 1, static_cast<int>(left.count())) <= 0) continue;
    char key = 0;
    if (read(STDIN_FILENO, &key, 1) != 1) return true;
    if (key == 'q' || key == 'Q' || key == ctrl_c || key == ctrl_d) return true;
  }
}

}  // namespace troupe::command
