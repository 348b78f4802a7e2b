#pragma once
// The actor behind one replica_slot: it answers the calls that are sent there, counts them, drains
// and dies. Where the role lives is the business of its kinds: local_replica holds it, stand_in
// (runtime/remote) stands for one in another process. Internal to runtime/.
//
//   starting ──ready──> serving ──crash, kill──────────────────────────────> ended
//                          └──drain──> leaving ──nothing pending, no session──┘

#include "runtime/service/call/host.hpp"

namespace troupe::detail {

class replica : public host {
 public:
  /// `ready` is called in the replica once it can serve, with its slot; if it can't, it dies.
  using ready_function = std::function<void(std::shared_ptr<replica_slot>)>;

  /// `kind` is the first word of its name. `slot` is its own, and gets its mailbox. Whoever made it
  /// may watch how it starts there.
  replica(caf::actor_config& config, system_core& system, const char* kind,
          std::shared_ptr<service_state> service, const replica_info& info,
          std::shared_ptr<replica_slot> slot, ready_function ready);

  // In a turn of its own.
  /// Nobody awaits a call any more: it is not begun, or stopped where it waits.
  virtual void stop_working(call_base& call) = 0;
  /// Tells what waits in its queue, where its role lives here.
  virtual void tell_waits(cycle_watch&) {}
  /// Its slot is leaving: ends once nothing is left to do.
  void drain();

 protected:
  /// It serves from here on.
  void serve() { ready_(slot_); }
  /// Counts and sends the reply of a call that has its value or its error.
  void answer(call_base& call, time_point time);
  /// Sends it.
  virtual void deliver(call_base& call);
  /// There is room for one more call.
  virtual void room_came() {}
  void give_room_back();
  void crash(const std::string& reason);
  /// Tells the trace of a batch, before its calls are answered, and of a call that is not.
  void trace_batch(const call_list& calls, time_point time);
  void trace_stopped(const call_base& call);
  bool crashed() const noexcept { return slot_->ended(); }
  bool leaving() const noexcept { return slot_->leaving(); }

  /// From here on it may take start_timeout until it serves.
  void begin_start();

  // As a host.
  void starting() override;
  void ended() override;

  std::shared_ptr<service_state> service_;
  const replica_info info_;
  std::shared_ptr<replica_slot> slot_;

 private:
  void trace_answer(const call_base& call, time_point time);

  ready_function ready_;
};

/// Ends a replica whose thread may be stuck in its role's code. Another takes the place of a thread
/// of the pool until that is back. Any thread. False if it had ended.
bool abandon(system_core& system, const service_state& service, replica_slot& slot);

// The same from any thread. An actor that has ended hears nothing.
void stop_working(const replica_slot& slot, ref<call_base> call);
void drain(const replica_slot& slot);
void ask_waits(const replica_slot& slot, std::shared_ptr<cycle_watch> who);

}  // namespace troupe::detail
