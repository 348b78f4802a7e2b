#pragma once

#include <functional>

#include "runtime/actor/ref.hpp"

namespace troupe {

/// Control messages (weights, health) never queue behind work.
enum class priority { normal, control };

namespace detail {

class call_base;

/// Where an actor can be reached, from any thread. What is sent to an actor that has ended is
/// dropped.
class inbox : public counted {
 public:
  /// A call for the replica that reads this mailbox.
  virtual void request(ref<call_base> call, priority urgency) = 0;
  /// A call that the replica has finished, back to its caller.
  virtual void reply(ref<call_base> call) = 0;
  /// Something to do on the actor, in a turn of its own.
  virtual void post(std::function<void()> action) = 0;
  /// The same, behind everything that is in the mailbox already.
  virtual void post_last(std::function<void()> action) = 0;
  /// Its alarm clock rings.
  virtual void ring() = 0;
  /// Asks the actor to end, now and whatever it is waiting for.
  virtual void kill(const char* reason) = 0;
};

}  // namespace detail
}  // namespace troupe
