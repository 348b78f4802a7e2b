#pragma once
// Runs an action at a given time without an actor. Internal to runtime/.

#include <functional>

#include "runtime/actor/inbox.hpp"
#include "runtime/base/error.hpp"
#include "runtime/base/log.hpp"

namespace troupe::detail {

/// A mailbox that runs an action when the clock rings it, and drops all other messages.
class timed_action final : public inbox {
 public:
  explicit timed_action(std::function<void()> action) : action_(std::move(action)) {}
  /// An error of the action is logged, so that the clock goes on.
  void ring() override {
    try {
      action_();
    } catch (...) {
      log::error("an action at a given time threw an exception",
                 {{"error", describe(std::current_exception())}});
    }
  }
  void request(ref<call_base>, priority) override {}
  void reply(ref<call_base>) override {}
  void post(std::function<void()>) override {}
  void post_last(std::function<void()>) override {}
  void kill(const char*) override {}

 private:
  const std::function<void()> action_;
};

}  // namespace troupe::detail
