#pragma once

#include <chrono>
#include <cstdint>

namespace troupe::openenv {

/// Whether environments are fast enough to be stepped by the thread that reads and writes. One that
/// took longer than `slow` held up all others, once; from then on steps go to threads of their own,
/// until so many in a row were fast that it seems to have been chance. That number doubles each
/// time, so environments that are slow now and then end up with threads of their own, too.
class pace {
 public:
  static constexpr std::chrono::microseconds slow{1000};
  static constexpr std::int64_t fast_in_a_row_first = 256;

  bool is_fast() const { return is_fast_; }

  void took(std::chrono::nanoseconds time) {
    if (time > slow) {
      if (is_fast_) wanted_ *= 2;
      is_fast_ = false;
      in_a_row_ = 0;
    } else if (!is_fast_ && ++in_a_row_ >= wanted_) {
      is_fast_ = true;
    }
  }

 private:
  bool is_fast_ = true;
  std::int64_t in_a_row_ = 0;
  std::int64_t wanted_ = fast_in_a_row_first / 2;
};

}  // namespace troupe::openenv
