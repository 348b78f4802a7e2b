#pragma once
// A fault plan says which faults a deterministic system injects, and how often. Tests use it to run
// a program through thousands of crashes and lost messages; each run can be repeated with its seed.

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "runtime/coroutine/strand.hpp"

namespace troupe {

/// Thrown for a text that is not a fault plan. The message names the part that is wrong.
class fault_plan_error : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// The probabilities of the faults, each 0 to 1. `crash` and `slow` apply to one turn in which a
/// replica takes up a call; `drop`, `duplicate` and `delay` apply to one message, which is a
/// request or a reply. The system's seed decides which faults are drawn.
struct fault_plan {
  /// The replica dies before it executes the call, or after it; in the second case its reply may be
  /// sent or lost.
  double crash = 0;
  /// The message is lost. A call with a deadline ends at its deadline. A call without one would
  /// wait for ever, so the link to the replica counts as lost instead; within one process this is
  /// the replica's death.
  double drop = 0;
  double duplicate = 0;  ///< The message arrives twice. The call is still executed only once.
  double delay = 0;      ///< The message arrives up to `delay_limit` later, and others overtake it.
  /// The largest delay of a message.
  duration delay_limit = std::chrono::milliseconds(50);
  double slow = 0;  ///< The turn takes up to `slow_limit` longer in virtual time; others go on.
  /// The largest extra time of a turn.
  duration slow_limit = std::chrono::milliseconds(10);
  bool random = false;  ///< The probabilities are drawn from the system's seed.

  /// Reads "random", or parts such as "crash=0.001,delay=0.01:50ms,drop=0.001,duplicate=0.001,
  /// slow=0.01:10ms", each at most once. A time is a number with us, ms or s. Throws
  /// fault_plan_error.
  static fault_plan parse(std::string_view text);

  bool any() const noexcept {
    return random || crash > 0 || drop > 0 || duplicate > 0 || delay > 0 || slow > 0;
  }
  /// Returns a text that `parse` reads as this plan; "" if the plan has no fault.
  std::string text() const;
};

namespace detail {

// The simulation's own tests set these bugs and check that it finds them.
/// The reply that a crash has swallowed counts as sent, so the caller is never told.
inline bool forgets_swallowed_replies = false;
/// The reply of a call that is queued at a replica counts as sent when the replica drains.
inline bool forgets_queued_calls = false;

/// Draws which faults happen. Used by one thread.
class fault_source {
 public:
  fault_source(const fault_plan& plan, std::uint64_t seed);

  /// The plan that faults are drawn by; for a random plan, the probabilities that were drawn.
  const fault_plan& plan() const noexcept { return plan_; }
  /// Stops all faults until `go_on`.
  void rest() noexcept { rests_ = true; }
  void go_on() noexcept { rests_ = false; }
  bool crashes() { return happens(plan_.crash); }
  bool drops() { return happens(plan_.drop); }
  bool duplicates() { return happens(plan_.duplicate); }
  bool one_of_two() { return happens(0.5); }
  /// The time by which a message is delayed; 0 if it isn't.
  duration delay() { return happens(plan_.delay) ? up_to(plan_.delay_limit) : duration(0); }
  duration slowness() { return happens(plan_.slow) ? up_to(plan_.slow_limit) : duration(0); }

 private:
  double draw();
  bool happens(double probability) { return !rests_ && probability > 0 && draw() < probability; }
  duration up_to(duration limit);
  fault_plan drawn();

  std::uint64_t state_;
  bool rests_ = false;
  fault_plan plan_;
};

}  // namespace detail
}  // namespace troupe
