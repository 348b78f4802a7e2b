#pragma once
// The actor behind one replica_slot. It answers the calls that are sent there, counts them, drains
// and ends. A local_replica holds its role, and a remote_replica (runtime/remote) forwards calls to
// a role in another process. Internal to runtime/.
//
//   starting ──ready──> serving ──crash, kill──────────────────────────────> ended
//                          └──drain──> leaving ──nothing pending, no session──┘

#include "runtime/service/replica/replica_context.hpp"

namespace troupe::detail {

/// The coroutine calls of one replica, as it reports them.
struct replica_waits {
  /// A call that the replica works on.
  struct work {
    ref<call_base> call;
    std::uint64_t slice = 0;  ///< The strand::slice of its endpoint, where the role lives.
  };
  /// Work that waits for room at a service of this process, where its replica lives.
  struct room_wait {
    std::uint64_t slice = 0;
    std::string service;
  };

  std::size_t ongoing = 0;  ///< Calls that the replica works on; 0 if it could work on more.
  /// It holds these and coroutine calls behind them, nothing else: room comes by their ends alone.
  bool full = false;
  std::vector<work> begun;
  std::vector<ref<call_base>> queued;
  /// Of a replica in another process: the actor that makes its calls here.
  ref<inbox> spokesman;
  std::vector<room_wait> for_room;  ///< Of a replica in another process.
};

using waits_function = std::function<void(replica_waits)>;

class replica : public host {
 public:
  /// `kind` is the first word of its name. `ready` is called once it can serve; if it can't, it
  /// dies. `slot` is its own, and gets its mailbox. Whoever made it may watch how it starts there.
  replica(caf::actor_config& config, replica_context& system, const char* kind,
          std::shared_ptr<service_state> service, const replica_info& info,
          std::shared_ptr<replica_slot> slot, ready_function ready, turns by = turns::pooled);

  // In a turn of its own.
  void stop_working(call_base& call) override = 0;
  /// Tells, now or later, the calls that it works on and that wait in its queue. It is told nothing
  /// if its role was not made for this process, or if the replica ends.
  virtual void tell_waits(waits_function tell) = 0;
  /// Ends the wait for room of such work with an error that names the members of a cycle.
  virtual void end_room_wait(std::uint64_t /*slice*/, const std::string& /*members*/) {}
  /// Ends the replica, whose slot is leaving, once it has nothing left to do.
  void drain();
  /// Ends the replica, and its place stays for a successor. Returns before the end if the role is
  /// in another process, which has to say that the role has ended.
  virtual void leave_place() { end(); }
  bool has_successor() const noexcept override { return service_->has_successor; }
  void keep(const std::string& key, std::shared_ptr<void> what) override;
  std::shared_ptr<void> take_kept(const std::string& key) override;

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

  replica_context& system_;
  std::shared_ptr<service_state> service_;
  const replica_info info_;
  std::shared_ptr<replica_slot> slot_;

 private:
  std::string key_of_kept(const std::string& key) const;
  void trace_answer(const call_base& call, time_point time);

  ready_function ready_;
};

/// The same as replica::leave_place, on any thread.
void leave_place(const replica_slot& slot);

/// Ends a replica whose thread may be stuck in its role's code. The pool gets another thread until
/// the stuck one is back. May be called on any thread. Returns false if the replica had ended.
bool abandon(replica_context& system, const service_state& service, replica_slot& slot);

// The same from any thread. An actor that has ended hears nothing.
/// `tell` is called in the replica.
void ask_waits(const replica_slot& slot, waits_function tell);
void end_room_wait(const replica_slot& slot, std::uint64_t slice, const std::string& members);

}  // namespace troupe::detail
