#pragma once
// What goes wrong on purpose in a deterministic system, and how often: so that a program is run
// through thousands of crashes and lost messages, each of which can be had again by its seed.

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "runtime/coroutine/strand.hpp"

namespace troupe {

/// A text that is no fault plan; the message names the part that is wrong.
class fault_plan_error : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// Each probability is of one message (a request or a reply) or of one turn in which a replica
/// takes up a call. What is drawn comes from the system's seed.
struct fault_plan {
  double crash = 0;      ///< The replica dies: before it executes a call, or after, with its reply
                         ///< sent or not.
  double drop = 0;       ///< The message is lost. A call with a deadline hears of it by that. One
                         ///< without would wait for ever, so there the link to the replica counts
                         ///< as lost, which within one process is the replica's death.
  double duplicate = 0;  ///< The message comes twice. A call is executed once all the same.
  double delay = 0;      ///< The message comes up to `delay_limit` later, others overtake it.
  duration delay_limit = std::chrono::milliseconds(50);
  double slow = 0;  ///< The turn takes up to `slow_limit` longer, of virtual time; others go on.
  duration slow_limit = std::chrono::milliseconds(10);
  bool random = false;  ///< All of the above are drawn from the system's seed.

  /// `random`, or parts such as "crash=0.001,delay=0.01:50ms,drop=0.001,duplicate=0.001,
  /// slow=0.01:10ms", each at most once. A time is a number with us, ms or s. Throws
  /// fault_plan_error.
  static fault_plan parse(std::string_view text);

  bool any() const noexcept {
    return random || crash > 0 || drop > 0 || duplicate > 0 || delay > 0 || slow > 0;
  }
  /// A text that `parse` reads as this plan; "" if it has no fault.
  std::string text() const;
};

namespace detail {

// For the simulation's own tests, bugs that it must find.
/// A reply that a crash has swallowed counts as sent, so that nobody tells the caller.
inline bool forgets_swallowed_replies = false;
/// So does the reply of a call that is queued at a replica when it begins to drain.
inline bool forgets_queued_calls = false;

/// Draws which faults happen. For one thread.
class fault_source {
 public:
  fault_source(const fault_plan& plan, std::uint64_t seed);

  /// What it draws by: of a random plan, what that came out as.
  const fault_plan& plan() const noexcept { return plan_; }
  /// Nothing goes wrong from here on.
  void rest() noexcept { plan_ = {}; }
  bool crashes() { return happens(plan_.crash); }
  bool drops() { return happens(plan_.drop); }
  bool duplicates() { return happens(plan_.duplicate); }
  bool one_of_two() { return happens(0.5); }
  /// Zero where it doesn't happen.
  duration delay() { return happens(plan_.delay) ? up_to(plan_.delay_limit) : duration(0); }
  duration slowness() { return happens(plan_.slow) ? up_to(plan_.slow_limit) : duration(0); }

 private:
  double draw();
  bool happens(double probability) { return probability > 0 && draw() < probability; }
  duration up_to(duration limit);
  fault_plan drawn();

  std::uint64_t state_;
  fault_plan plan_;
};

}  // namespace detail
}  // namespace troupe
