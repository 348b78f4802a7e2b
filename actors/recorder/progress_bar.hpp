#pragma once
// The progress of a run on the screen.

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <limits>
#include <string>

#include "actors/recorder/run_labels.hpp"

namespace troupe {

/// The progress of a run.
struct progress_state {
  std::int64_t step = 0;  ///< The number of environment steps so far.
  /// The number of environment steps of the whole run; 0 or less means unknown.
  std::int64_t total_steps = 0;
  std::chrono::duration<double> elapsed{};
  /// NaN if no episode has ended yet.
  double mean_return = std::numeric_limits<double>::quiet_NaN();
  run_labels labels = {};
};

/// Returns a line such as the following, with or without the bar:
///
///    42% |########            | 42k/100k steps, 12.3k steps/s, ETA 0:04, return 187.2
std::string progress_line(const progress_state& state, bool with_bar = true);

/// Shows the progress of a run. On a terminal it redraws one line. Otherwise, such as in a file or
/// a pipe, it writes a line every five seconds and at the end. It is not thread-safe.
class progress_bar {
 public:
  /// `out` must outlive the bar.
  progress_bar(std::ostream& out, bool is_terminal);

  /// Continues another bar: only progress after `state` is drawn.
  void skip_to(const progress_state& state);

  /// Draws if it is due, which is ten times a second on a terminal.
  void update(const progress_state& state);

  /// Draws the last state and ends the line. Later calls do nothing.
  void finish(const progress_state& state);

  /// Clears the line, so that something else can be printed; the next update draws it again.
  void clear();

 private:
  void draw(const progress_state& state);

  std::ostream* out_;
  bool is_terminal_;
  bool finished_ = false;
  std::size_t drawn_width_ = 0;              ///< The number of columns of the line on the terminal.
  std::chrono::duration<double> next_draw_;  ///< The elapsed time at which the next drawing is due.
};

}  // namespace troupe
