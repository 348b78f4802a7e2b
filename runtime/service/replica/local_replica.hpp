#pragma once
// A replica whose role lives in this process. The role is made, called and destroyed in this actor,
// so it needs no locks. Internal to runtime/.

#include <map>

#include "runtime/service/replica/replica.hpp"

namespace troupe::detail {

class local_replica : public replica, private replica_port {
 public:
  local_replica(caf::actor_config& config, replica_context& system,
                std::shared_ptr<service_state> service, std::shared_ptr<const role_factory> factory,
                const replica_info& info, std::shared_ptr<replica_slot> slot, ready_function ready);

 protected:
  void on_request(ref<call_base> call) override;
  void crash(const std::string& reason) override { replica::crash(reason); }

 private:
  // These override replica.
  bool may_pause() const noexcept override { return true; }
  void starting() override;
  void root_finished(std::exception_ptr error) override;
  void before_end() override;
  void ended() override;
  void stop_working(call_base& call) override;
  void tell_waits(waits_function tell) override;
  void room_came() override;

  // These override replica_port.
  void finish(call_base& call) override;
  void finish_all(call_list& calls) override;
  void start(call_base& call, child_task work) override;
  void gather(ref<call_base> call, batch_runner run) override;

  struct open_batch {
    batch_runner run;
    call_list calls;
    /// Counts the batches, so that an old request to close is recognized.
    std::uint32_t round = 0;
    time_point opened{};
    bool timed = false;  ///< True while its `close_in_time` runs.
  };

  child_task begin();
  child_task close_in_time(open_batch& batch);
  void close_when_drained(open_batch& batch);
  void close_if_drained(open_batch& batch, std::uint32_t round, std::uint32_t size);
  void close(open_batch& batch);
  void begin_call(call_base& call, time_point time);
  void start_backlog();
  static ref<call_base> take_out(call_base& of_backlog);
  void stop(call_base& call);
  child_task cut_off_overlong();
  void note_version();

  std::shared_ptr<const role_factory> factory_;
  std::unique_ptr<role_box> role_;
  std::size_t ongoing_ = 0;   ///< Coroutine calls that have begun and not finished.
  list<call_base> begun_;     ///< These calls, the oldest first.
  bool cutting_off_ = false;  ///< True while `cut_off_overlong` runs.
  /// Coroutine calls above max_ongoing, which are held here. max_queued bounds their number.
  list<call_base> backlog_;
  std::map<const endpoint_info*, open_batch> batches_;
};

}  // namespace troupe::detail
