#pragma once
// The clock of a training loop, from which its report takes duration and overlap.

#include <algorithm>
#include <chrono>
#include <optional>

#include "runtime/coroutine/strand.hpp"

namespace troupe::loops {

/// Measures how much of the time rollouts and training overlap. All calls come from the coroutines
/// of one actor. The loops report it as overlap_fraction.
class activity {
 public:
  activity() : home_(&troupe::detail::strand::current()), began_(home_->now()), last_(began_) {}

  /// A rollout or training step is under way for as long as its span lives.
  class span {
   public:
    span(activity& of, int activity::* which) : of_(of), which_(which) { of_.change(which_, +1); }
    span(const span&) = delete;
    ~span() { of_.change(which_, -1); }

   private:
    activity& of_;
    int activity::* which_;
  };
  span rollout() { return span(*this, &activity::rollouts_); }
  span training() { return span(*this, &activity::trainings_); }

  /// Seconds since the start.
  double elapsed() const { return seconds(home_->now() - began_); }
  /// The share of elapsed() in which a rollout and a training step were both under way: 0 to 1.
  double overlap_fraction() const {
    const double all = elapsed();
    return all > 0 ? seconds(both_) / all : 0;
  }

 private:
  static double seconds(duration d) { return std::chrono::duration<double>(d).count(); }

  void change(int activity::* which, int by) {
    const auto now = home_->now();
    if (rollouts_ > 0 && trainings_ > 0) both_ += now - last_;
    last_ = now;
    this->*which += by;
  }

  troupe::detail::strand* home_;
  time_point began_;
  time_point last_;
  duration both_{0};
  int rollouts_ = 0;
  int trainings_ = 0;
};

}  // namespace troupe::loops
