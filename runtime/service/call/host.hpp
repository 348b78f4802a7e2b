#pragma once
// A CAF actor that runs coroutines: the one place where CAF, the strand and the calling side meet.
// Internal to runtime/: nothing outside includes it.

#include <atomic>
#include <caf/all.hpp>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string_view>

#include "runtime/actor/clock.hpp"
#include "runtime/actor/inbox.hpp"
#include "runtime/actor/own_threads.hpp"
#include "runtime/actor/strand_actor.hpp"
#include "runtime/actor/tsan_annotations.hpp"
#include "runtime/actor/turn_count.hpp"
#include "runtime/coroutine/list.hpp"
#include "runtime/coroutine/task_group.hpp"
#include "runtime/service/call/call.hpp"
#include "runtime/service/call/caller.hpp"

namespace troupe::detail {

class actor_context;
struct simulated_pool;

/// The message that hosts send each other. There is one type only, so that a host recognises its
/// messages with a single check. It never leaves the process.
struct envelope {
  enum class kind : std::uint8_t { request, reply, action, ring, kill };
  struct posted_action : counted, recycled {
    explicit posted_action(std::function<void()> f) : f(std::move(f)) {}
    const std::function<void()> f;
  };
  kind what;
  ref<call_base> call;           ///< Set in a request and in a reply.
  ref<posted_action> action;     ///< Set in an action.
  const char* reason = nullptr;  ///< Set in a kill.
};

/// An actor with a strand. Each message is one turn: handle it, then run every coroutine that
/// became ready.
class host : public strand_actor, protected child_task::listener {
 public:
  /// The host's random numbers depend on `name`, which no actor of another kind or service may
  /// have.
  host(caf::actor_config& config, actor_context& system, std::string_view name,
       turns by = turns::pooled);
  ~host() override;

  /// Returns the host whose turn this thread runs, or null.
  static host* current_or_null() noexcept;

  time_point now() const override;
  /// In a turn: max_call_time begins anew for the call that it works on, `allowance` from now.
  void note_progress(duration allowance = duration(0)) noexcept;
  bool deterministic() const noexcept;
  // What a role leaves to the one that takes its place; see successor.hpp. Only replicas have
  // roles.
  virtual bool has_successor() const noexcept { return false; }
  virtual void keep(const std::string& /*key*/, std::shared_ptr<void> /*what*/) {}
  virtual std::shared_ptr<void> take_kept(const std::string& /*key*/) { return nullptr; }
  /// Returns a token that is requested when the system begins to end.
  std::stop_token system_ends() const;
  class caller* calls() noexcept override { return &caller_; }
  const ref<inbox>& self() const noexcept { return inbox_; }
  /// In a turn of its own, where it executes calls: nobody awaits this call any more. It is not
  /// begun, or stopped where it waits.
  virtual void stop_working(call_base&) {}

 protected:
  /// Runs a coroutine that belongs to this actor, until the coroutine or the actor ends.
  child_task& start_root(child_task work);
  /// Destroys a coroutine that `start_root` started and that is suspended.
  void cancel_root(const child_task& work);
  /// Ends the actor after this turn.
  void end();
  /// Has `on_down` called when the actor behind the mailbox `who` has ended.
  void watch(inbox& who);

  /// Returns the time at which this turn began. If the turn follows another one immediately, it is
  /// the time at which that one ended, because reading the clock costs a tenth of a call.
  time_point turn_began();
  /// Records `time` as the end of this turn. The turn must not do anything of note afterwards.
  void turn_ends(time_point time) noexcept {
    turn_time_ = time;
    turn_timed_ = true;
  }

  /// Every derived class calls it at the end of its constructor: from then on other threads run the
  /// actor.
  void made() {
    tsan_release(this);
    tsan_release(static_cast<caf::resumable*>(this));  // The address that the pool knows.
  }

  // The derived classes override these functions.
  virtual void starting() {}
  virtual void on_request(ref<call_base> call);
  /// Called before the coroutines' frames are destroyed.
  virtual void before_end() {}
  /// Called after the coroutines' frames were destroyed. The strand doesn't run any more.
  virtual void ended() {}
  /// Called when a root coroutine has finished.
  virtual void root_finished(std::exception_ptr error);
  /// Called when an actor that this host watches has ended.
  virtual void on_down(const inbox& who, const std::string& reason);

  std::atomic<duration::rep>* busy_since_ = nullptr;  ///< See replica_slot::busy_since.
  turn_count* turns_seen_ = nullptr;                  ///< Counts the turns; null if nobody looks.

 private:
  /// A coroutine that belongs to this actor, on the heap. It leaves its list when it is destroyed.
  struct root final : child_task, list_node, recycled {
    explicit root(child_task work) noexcept : child_task(std::move(work)) {}
  };
  static void destroy_all(list<root>& roots);

  caf::behavior make_behavior() override;
  resume_result resume(caf::execution_unit* unit, std::size_t max_messages) override;
  caf::invoke_message_result consume(caf::mailbox_element& message) override;
  void on_exit() override;
  void on_destroy() override;
  void intrusive_ptr_release_impl() override;
  void finished(child_task& child, std::exception_ptr error) override;
  template <class F>
  void turn_with(F handle);
  void open(envelope& message);
  void alarm_rang();
  void rearm();

  actor_context& system_;
  /// Counts the host's own thread; null if the host has none.
  const std::shared_ptr<own_threads> own_thread_;
  ref<inbox> inbox_;
  class caller caller_;
  /// The actors that are watched and whose end was not heard yet. Their mailboxes are held, so that
  /// no new actor gets the same address. The order is that in which the actors were made.
  std::multimap<caf::actor_addr, ref<inbox>> watched_;
  list<root> roots_;           ///< The running roots, in the order in which they started.
  list<root> finished_roots_;  ///< These are destroyed at the end of the turn.
  time_point turn_time_{};
  bool turn_timed_ = false;  ///< True if turn_time_ is the time at which the last turn ended.
  bool turn_fresh_ = false;  ///< True if the running turn began at turn_time_.
  /// The alarms that are set. A new alarm is set only if it is earlier than all others, so the last
  /// alarm rings next.
  std::vector<alarm_key> alarms_;
};

/// A host whose turns may be reserved. It is a class of its own, because its check would make the
/// messages of all other actors 2 % slower.
class reserved_host : public host {
 public:
  reserved_host(caf::actor_config& config, actor_context& system, std::string_view name, turns by);
  /// Puts a message into the mailbox. CAF also calls it for its own messages, such as the one that
  /// says that a watched actor has ended.
  void enqueue(caf::mailbox_element_ptr mail, caf::execution_unit* unit) override;

 private:
  /// The queues in which a reserved host waits for its turns; null if its turns are not reserved.
  caf::execution_unit* urgent_from_turn_ = nullptr;
  caf::execution_unit* urgent_from_outside_ = nullptr;
};

/// Tells the replica behind a mailbox that nobody awaits a call any more. Any thread.
void stop_working(inbox& replica, ref<call_base> call);

/// Makes the mailbox of a local actor. It holds the actor's control block.
ref<inbox> make_local_inbox(caf::strong_actor_ptr actor);
/// Returns the threads of the simulated process that the actor behind a local mailbox is in, or
/// null.
simulated_pool* pool_of(const inbox& local);
/// Returns the actor behind a local mailbox.
const caf::strong_actor_ptr& actor_of(const inbox& local);

}  // namespace troupe::detail
