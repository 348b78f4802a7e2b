#pragma once
// The mailbox of an actor. Senders know an actor only by its mailbox, whether it runs in this
// process or in another. Internal to runtime/, but for `priority`, which the options of a call use.

#include <functional>

#include "runtime/actor/ref.hpp"

namespace troupe {

/// The urgency of a message. Control messages (weights, health) never queue behind normal messages.
enum class priority { normal, control };

namespace detail {

class call_base;

/// The mailbox of an actor. Any thread may send to it. Messages to an actor that has ended are
/// dropped.
class inbox : public counted {
 public:
  /// Sends a call to the replica that reads this mailbox.
  virtual void request(ref<call_base> call, priority urgency) = 0;
  /// Sends a call that the replica has finished back to its caller.
  virtual void reply(ref<call_base> call) = 0;
  /// Has the actor run `action`, in a turn of its own.
  virtual void post(std::function<void()> action) = 0;
  /// Has the actor run `action` after every message that is in the mailbox already.
  virtual void post_last(std::function<void()> action) = 0;
  /// Tells the actor that an alarm which it has set rings.
  virtual void ring() = 0;
  /// Asks the actor to end immediately, whatever it is waiting for.
  virtual void kill(const char* reason) = 0;
};

}  // namespace detail
}  // namespace troupe
