#pragma once
// The local actor of a replica in another process. Calls are sent to that process, and their
// results come back as if the replica were local. Internal to runtime/.

#include <map>
#include <string>
#include <vector>

#include "runtime/remote/slot_provider.hpp"
#include "runtime/service/replica/replica.hpp"

namespace troupe::detail {

/// Its turns are assured, because what it hears decides whether the supervisor gives it up.
class remote_replica final : public replica {
 public:
  /// For a role that `there` has yet to make.
  remote_replica(caf::actor_config& config, remote_context& system,
                 std::shared_ptr<service_state> service,
                 std::shared_ptr<const role_factory> factory, const replica_info& info,
                 std::shared_ptr<replica_slot> slot, ready_function ready, slot_provider& there);
  /// For a replica that serves at the other end of `to` already, known there by its serial.
  remote_replica(caf::actor_config& config, remote_context& system,
                 std::shared_ptr<service_state> service, const replica_info& info,
                 std::shared_ptr<replica_slot> slot, ready_function ready,
                 std::shared_ptr<connection> to, std::uint64_t serial);

  // Each of these is called in a turn of its own.
  void heard(const message& m);
  void lost(const std::string& why);
  void writable();
  void stop_working(call_base& call) override;
  void tell_waits(waits_function tell) override;
  void end_room_wait(std::uint64_t slice, const std::string& members) override;
  void leave_place() override;

 private:
  void starting() override;
  void on_request(ref<call_base> call) override;
  void ended() override;

  void allocated(std::shared_ptr<remote_slot> place, std::exception_ptr error);
  void join(std::shared_ptr<connection> to);
  void send(ref<call_base> call);
  void refuse(call_base& call, std::exception_ptr error);
  ref<call_base> take(std::uint64_t id);
  void finish(const message& m);
  void read_answer(const message& m, call_base& call);
  void read_waits(const message& m);
  void has_left();
  void end_import(const std::string& why);
  child_task watch_over();
  void note_begun();
  void note_busy();

  remote_context& remote_;
  std::shared_ptr<const role_factory> factory_;  ///< Null if the replica is made already.
  slot_provider* there_ = nullptr;
  std::uint64_t serial_ = 0;
  std::shared_ptr<remote_slot> place_;
  bool leaves_place_ = false;  ///< True while the role ends and the place is to stay.
  std::shared_ptr<connection> to_;
  std::uint32_t number_ = 0;
  std::uint64_t last_id_ = 0;
  /// The calls that were sent, in the order of sending.
  std::map<std::uint64_t, ref<call_base>> in_flight_;
  /// The calls among these that keep the replica busy until they return.
  std::size_t executing_ = 0;
  list<call_base> unsent_;                   ///< The calls that wait while the link is full.
  std::vector<waits_function> asked_waits_;  ///< Those who wait for the next wait_report.
  bool serves_ = false;
  /// True if the process has sent anything since the last ping.
  bool heard_process_ = true;
  bool goes_on_ = true;  ///< False if the replica was in the same turn at the last two pings.
};

}  // namespace troupe::detail
