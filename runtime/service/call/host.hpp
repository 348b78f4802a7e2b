#pragma once
// A CAF actor that runs coroutines: the one place where CAF, the strand and the calling side meet.
// Internal to runtime/: nothing outside includes it.

#include <atomic>
#include <caf/all.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string_view>

#include "runtime/actor/clock.hpp"
#include "runtime/actor/handover.hpp"
#include "runtime/actor/inbox.hpp"
#include "runtime/actor/own_threads.hpp"
#include "runtime/actor/strand_actor.hpp"
#include "runtime/coroutine/crew.hpp"
#include "runtime/coroutine/list.hpp"
#include "runtime/service/call/call.hpp"
#include "runtime/service/call/caller.hpp"

namespace troupe::detail {

class actor_context;
struct simulated_pool;

/// What travels between hosts. One type, so that a host knows its messages at one look. Never
/// leaves the process.
struct envelope {
  enum class kind : std::uint8_t { request, reply, action, ring, kill };
  struct deed : counted, recycled {
    explicit deed(std::function<void()> f) : f(std::move(f)) {}
    const std::function<void()> f;
  };
  kind what;
  ref<call_base> call;           ///< Of a request or reply.
  ref<deed> action;              ///< Of an action.
  const char* reason = nullptr;  ///< Of a kill.
};

/// An actor with a strand. Each message is one turn: handle it, then run every coroutine that
/// became ready.
class host : public strand_actor, protected branch::listener {
 public:
  /// Its random numbers depend on `name`, which no actor of another kind or service has.
  host(caf::actor_config& config, actor_context& system, std::string_view name,
       turns by = turns::pooled);
  ~host() override;

  time_point now() const override;
  bool deterministic() const noexcept;
  class caller* calls() noexcept override { return &caller_; }
  const ref<inbox>& self() const noexcept { return inbox_; }
  /// In a turn of its own, where it executes calls: nobody awaits this call any more. It is not
  /// begun, or stopped where it waits.
  virtual void stop_working(call_base&) {}

 protected:
  /// Runs a coroutine of this actor's own, until its end or the actor's.
  branch& start_root(branch work);
  /// Destroys one that is suspended.
  void cancel_root(const branch& work);
  /// Ends the actor after this turn.
  void end();
  /// `on_down` tells when the actor behind a mailbox has ended.
  void watch(inbox& who);

  /// When this turn began. Of turns that follow each other at once, it is when the one before said
  /// that it ended: a look at the clock costs as much as a tenth of a call.
  time_point turn_began();
  /// It is `time`, and this turn does nothing more of note.
  void turn_ends(time_point time) noexcept {
    turn_time_ = time;
    turn_timed_ = true;
  }

  /// The last thing that each kind's constructor does: from here on other threads run it.
  void made() {
    hand_over(this);
    hand_over(static_cast<caf::resumable*>(this));  // As the pool knows it.
  }

  // What the kinds of host do differently.
  virtual void starting() {}
  virtual void on_request(ref<call_base> call);
  /// Frames are about to be destroyed.
  virtual void before_end() {}
  /// Frames are destroyed already; the strand runs no more.
  virtual void ended() {}
  /// A root coroutine has finished.
  virtual void root_finished(std::exception_ptr error);
  /// A replica that this host watches has died.
  virtual void on_down(const inbox& who, const std::string& reason);

  std::atomic<duration::rep>* busy_since_ = nullptr;  ///< When this turn began; 0 between turns.

 private:
  /// A coroutine of this actor's own, on the heap. It leaves its list when it goes.
  struct root final : branch, list_node, recycled {
    explicit root(branch work) noexcept : branch(std::move(work)) {}
  };
  static void destroy_all(list<root>& roots);

  caf::behavior make_behavior() override;
  resume_result resume(caf::execution_unit* unit, std::size_t max_messages) override;
  caf::invoke_message_result consume(caf::mailbox_element& message) override;
  void on_exit() override;
  void on_destroy() override;
  void intrusive_ptr_release_impl() override;
  void finished(branch& done, std::exception_ptr error) override;
  template <class F>
  void turn_with(F handle);
  void open(envelope& message);
  void alarm_rang();
  void rearm();

  actor_context& system_;
  const std::shared_ptr<own_threads> own_thread_;  ///< Counts its own; null: it has none.
  ref<inbox> inbox_;
  class caller caller_;
  /// Who is watched, until its end is heard: held, so that nobody else is known by its address. By
  /// the order in which actors were made.
  std::multimap<caf::actor_addr, ref<inbox>> watched_;
  list<root> roots_;           ///< In the order of their starts.
  list<root> finished_roots_;  ///< They go at the end of the turn.
  time_point turn_time_{};
  bool turn_timed_ = false;  ///< turn_time_ is when the last turn ended.
  bool turn_fresh_ = false;  ///< ... and this one began.
  /// When the clock will ring. Each is set only where it is before all others: the last is the
  /// next.
  std::vector<alarm_key> alarms_;
};

/// One whose turns may be reserved. It is a class of its own, because the check would make the
/// messages of all other actors 2 % slower.
class reserved_host : public host {
 public:
  reserved_host(caf::actor_config& config, actor_context& system, std::string_view name, turns by);
  /// CAF brings messages of its own, such as those of the end of an actor that is watched.
  void enqueue(caf::mailbox_element_ptr mail, caf::execution_unit* unit) override;

 private:
  /// Where it waits for its turns if they are reserved; null: where others do.
  caf::execution_unit* urgent_from_turn_ = nullptr;
  caf::execution_unit* urgent_from_outside_ = nullptr;
};

/// Tells the replica behind a mailbox that nobody awaits a call any more. Any thread.
void stop_working(inbox& replica, ref<call_base> call);

/// The mailbox of a local actor; holds the actor's control block.
ref<inbox> make_local_inbox(caf::strong_actor_ptr actor);
/// The threads of the simulated process that the actor behind a local mailbox is in, or null.
simulated_pool* pool_of(const inbox& local);
/// The actor behind a local mailbox.
const caf::strong_actor_ptr& actor_of(const inbox& local);

}  // namespace troupe::detail
