#pragma once
// Decides which threads step a server's environments.

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace troupe::openenv_server {

/// Decides whether environments are fast enough to be stepped by the thread that reads and writes.
/// A step that took longer than `slow` has delayed all other sessions. From then on other threads
/// take the steps, until a number of steps in a row were fast. That number doubles each time, up to
/// `in_a_row_max`.
///
/// Environments that may hang are never fast, however short their steps were so far: the thread
/// that reads and writes would hang with them.
class pace {
 public:
  static constexpr std::chrono::microseconds slow{1000};
  /// A step that took longer is slow even if its thread had to wait for a core meanwhile.
  static constexpr std::chrono::milliseconds excused_max{100};
  static constexpr std::int64_t in_a_row_first = 256;
  static constexpr std::int64_t in_a_row_max = 4096;

  /// Without `may_be_fast` the environments never are; see server_options::inline_steps.
  explicit pace(bool may_be_fast = true) : may_be_fast_(may_be_fast) {}

  bool is_fast() const { return is_fast_ && may_be_fast_; }

  /// Records the time of a step. With `was_preempted` the thread had to wait for a core meanwhile,
  /// as on a busy machine. A single slow step of at most `excused_max` is then excused; two in a
  /// row are not.
  void took(std::chrono::nanoseconds time, bool was_preempted) {
    const bool seemed_slow = time > slow;
    const bool is_excused = was_preempted && time <= excused_max && !last_seemed_slow_;
    last_seemed_slow_ = seemed_slow;
    if (seemed_slow && !is_excused) {
      if (is_fast_) wanted_ = std::min(2 * wanted_, in_a_row_max);
      is_fast_ = false;
      in_a_row_ = 0;
    } else if (!is_fast_ && ++in_a_row_ >= wanted_) {
      is_fast_ = true;
    }
  }

 private:
  bool may_be_fast_;
  bool is_fast_ = true;
  bool last_seemed_slow_ = false;
  std::int64_t in_a_row_ = 0;
  std::int64_t wanted_ = in_a_row_first / 2;
};

}  // namespace troupe::openenv_server
