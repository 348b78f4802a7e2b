#pragma once
// The actor behind one replica_slot: it answers the calls that are sent there, counts them, drains
// and dies. Where the role lives is the business of its kinds: local_replica holds it, stand_in
// (runtime/remote) stands for one in another process. Internal to runtime/.
//
//   starting ──ready──> serving ──crash, kill──────────────────────────────> ended
//                          └──drain──> leaving ──nothing pending, no session──┘

#include "runtime/service/replica/replica_context.hpp"

namespace troupe::detail {

/// What a replica tells of its coroutine calls.
struct replica_waits {
  std::size_t ongoing = 0;  ///< Those that it works on; 0 if it could work on more.
  /// It holds these and coroutine calls behind them, nothing else: room comes by their ends alone.
  bool full = false;
  // Of those that endpoints await:
  std::vector<ref<call_base>> begun;
  std::vector<ref<call_base>> queued;
};

class replica : public host {
 public:
  /// `kind` is the first word of its name. `ready` is called once it can serve; if it can't, it
  /// dies. `slot` is its own, and gets its mailbox. Whoever made it may watch how it starts there.
  replica(caf::actor_config& config, replica_context& system, const char* kind,
          std::shared_ptr<service_state> service, const replica_info& info,
          std::shared_ptr<replica_slot> slot, ready_function ready);

  // In a turn of its own.
  void stop_working(call_base& call) override = 0;
  /// The calls that it works on and that wait in its queue, where its role lives here.
  virtual replica_waits waits() { return {}; }
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

  replica_context& system_;
  std::shared_ptr<service_state> service_;
  const replica_info info_;
  std::shared_ptr<replica_slot> slot_;

 private:
  void trace_answer(const call_base& call, time_point time);

  ready_function ready_;
};

/// Ends a replica whose thread may be stuck in its role's code. Another takes the place of a thread
/// of the pool until that is back. Any thread. False if it had ended.
bool abandon(replica_context& system, const service_state& service, replica_slot& slot);

// The same from any thread. An actor that has ended hears nothing.
/// `tell` is called in the replica.
void ask_waits(const replica_slot& slot, std::function<void(replica_waits)> tell);

}  // namespace troupe::detail
