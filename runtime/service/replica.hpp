#pragma once
// The actor behind one replica_slot. It answers the calls that are sent there, counts them, drains
// and ends. A local_replica holds its role, and a stand_in (runtime/remote) forwards calls to a
// role in another process. Internal to runtime/.
//
//   starting ──ready──> serving ──crash, kill──────────────────────────────> ended
//                          └──drain──> leaving ──nothing pending, no session──┘

#include "runtime/actor/host.hpp"

namespace troupe::detail {

class replica : public host {
 public:
  /// Called in the replica, with its slot, once it can serve. A replica that can't serve dies
  /// instead.
  using ready_function = std::function<void(std::shared_ptr<replica_slot>)>;

  /// `kind` is the first word of the actor's name. `slot` belongs to this replica and gets its
  /// mailbox. The maker may watch the slot to see how the replica starts.
  replica(caf::actor_config& config, system_core& system, const char* kind,
          std::shared_ptr<service_state> service, const replica_info& info,
          std::shared_ptr<replica_slot> slot, ready_function ready);

  // Each of these is called in a turn of its own.
  /// Stops a call that nobody awaits any more: it isn't begun, or it is stopped where it waits.
  virtual void stop_working(call_base& call) = 0;
  /// Reports the calls that wait in its queue, if its role lives in this process.
  virtual void tell_waits(cycle_watch&) {}
  /// Ends the replica, whose slot is leaving, once it has nothing left to do.
  void drain();

 protected:
  /// Reports that the replica serves from now on.
  void serve() { ready_(slot_); }
  /// Counts the reply of a call that has its value or its error, and sends it.
  void answer(call_base& call, time_point time);
  /// Sends the reply.
  virtual void deliver(call_base& call);
  /// Called when there is room for one more call.
  virtual void room_came() {}
  void give_room_back();
  void crash(const std::string& reason);
  /// Writes a batch to the trace before its calls are answered.
  void trace_batch(const call_list& calls, time_point time);
  /// Writes a call that was stopped to the trace.
  void trace_stopped(const call_base& call);
  bool crashed() const noexcept { return slot_->ended(); }
  bool leaving() const noexcept { return slot_->leaving(); }

  /// Begins the time that start_timeout limits.
  void begin_start();

  // These override host.
  void starting() override;
  void ended() override;

  std::shared_ptr<service_state> service_;
  const replica_info info_;
  std::shared_ptr<replica_slot> slot_;

 private:
  void trace_answer(const call_base& call, time_point time);

  ready_function ready_;
};

/// Ends a replica whose thread may be stuck in its role's code. The pool gets another thread until
/// the stuck one is back. May be called on any thread. Returns false if the replica had ended.
bool abandon(system_core& system, const service_state& service, replica_slot& slot);

// These do the same from any thread. An actor that has ended ignores them.
void stop_working(const replica_slot& slot, ref<call_base> call);
void drain(const replica_slot& slot);
void ask_waits(const replica_slot& slot, std::shared_ptr<cycle_watch> who);

}  // namespace troupe::detail
