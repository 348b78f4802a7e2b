#pragma once
// The actor in which one role lives. Internal to runtime/.
//
//   starting ──make role, catch up──> serving ──crash, kill──────────────────────────────> ended
//                                        └──drain──> leaving ──nothing pending, no session──┘
//
// A role is made, called and destroyed in its replica, so it needs no locks.

#include <deque>
#include <map>

#include "runtime/actor/host.hpp"

namespace troupe::detail {

class replica : public host, private replica_port {
 public:
  /// `ready` is called in the replica once it can serve, with its slot; if it can't, it dies.
  replica(caf::actor_config& config, system_core& system, std::shared_ptr<service_state> service,
          std::shared_ptr<const role_factory> factory, const replica_info& info,
          std::function<void(std::shared_ptr<replica_slot>)> ready);

  // In a turn of its own.
  /// Nobody awaits a coroutine call any more: it is not begun, or destroyed where it waits.
  void stop_working(call_base& call);
  /// Its slot is leaving: ends once nothing is left to do.
  void drain();

 protected:
  void on_request(ref<call_base> call) override;
  /// Sends the reply of a call that has its value or its error.
  virtual void deliver(call_base& call);
  void crash(const std::string& reason) override;
  bool crashed() const noexcept { return slot_->ended(); }
  bool leaving() const noexcept { return slot_->leaving(); }
  void give_room_back();

 private:
  // As a host.
  void starting() override;
  void root_finished(std::exception_ptr error) override;
  void ended() override;

  // As the port of its calls.
  void finish(call_base& call) override;
  void finish_all(call_list& calls) override;
  void start(call_base& call, branch work) override;
  void gather(ref<call_base> call, batch_runner run) override;

  struct open_batch {
    batch_runner run;
    call_list calls;
    std::uint32_t round = 0;  ///< Counts batches: an old request to close is known as old.
    time_point opened{};
    bool timed = false;  ///< Its `close_in_time` runs.
  };

  branch begin();
  branch close_in_time(open_batch& batch);
  void close_when_drained(open_batch& batch);
  void close_if_drained(open_batch& batch, std::uint32_t round, std::uint32_t size);
  void close(open_batch& batch);
  void begin_call(call_base& call, time_point time);
  void answer(call_base& call, time_point time);
  void start_backlog();
  void stop(call_base& call);
  branch cut_off_overlong();
  bool overran(time_point time);

  std::shared_ptr<service_state> service_;
  std::shared_ptr<const role_factory> factory_;
  const replica_info info_;
  std::function<void(std::shared_ptr<replica_slot>)> ready_;
  std::shared_ptr<replica_slot> slot_;
  std::unique_ptr<role_box> role_;
  std::size_t ongoing_ = 0;   ///< Coroutine calls begun and not finished.
  list<call_base> limited_;   ///< These, the oldest first, where max_call_time limits them.
  bool cutting_off_ = false;  ///< `cut_off_overlong` runs.
  /// Coroutine calls above max_ongoing. Bounded by max_queued.
  std::deque<ref<call_base>, recycling_allocator<ref<call_base>>> backlog_;
  std::map<const endpoint_info*, open_batch> batches_;
};

// The same from any thread. An actor that has ended hears nothing.
void stop_working(const replica_slot& slot, ref<call_base> call);
void drain(const replica_slot& slot);

}  // namespace troupe::detail
