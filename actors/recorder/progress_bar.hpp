#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <limits>
#include <string>

#include "actors/recorder/run_words.hpp"

namespace troupe {

/// How far a run is.
struct progress_state {
  std::int64_t step = 0;         ///< Environment steps so far.
  std::int64_t total_steps = 0;  ///< Environment steps that were asked for; <= 0: unknown.
  std::chrono::duration<double> elapsed{};
  double mean_return = std::numeric_limits<double>::quiet_NaN();  ///< NaN: no episode ended yet.
  run_words words = {};
};

/// ` 42% |########            | 42k/100k steps, 12.3k steps/s, ETA 0:04, return 187.2`, or without
/// the bar.
std::string progress_line(const progress_state& state, bool with_bar = true);

/// Shows a run's progress: on a terminal one line that is redrawn, elsewhere (a file, a pipe) a
/// plain line every five seconds and at the end. Not thread-safe.
class progress_bar {
 public:
  /// `out` must outlive the bar.
  progress_bar(std::ostream& out, bool is_terminal);

  /// Takes up where another bar was: only what comes after `state` is drawn.
  void skip_to(const progress_state& state);

  /// Draws where it is due: ten times a second on a terminal.
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
  std::size_t drawn_width_ = 0;              ///< Columns of the line on the terminal.
  std::chrono::duration<double> next_draw_;  ///< Elapsed time of the next one.
};

}  // namespace troupe
