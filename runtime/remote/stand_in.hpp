#pragma once
// Stands here for a replica in another process: what is called here is sent there, and its results
// come back as if it were local. Internal to runtime/.

#include <map>

#include "runtime/remote/site.hpp"
#include "runtime/service/replica/replica.hpp"

namespace troupe::detail {

class stand_in final : public replica {
 public:
  /// For a role that `there` has yet to make.
  stand_in(caf::actor_config& config, remote_context& system,
           std::shared_ptr<service_state> service, std::shared_ptr<const role_factory> factory,
           const replica_info& info, std::shared_ptr<replica_slot> slot, ready_function ready,
           site& there);
  /// For a replica that serves at the other end of `to` already, known there by its serial.
  stand_in(caf::actor_config& config, remote_context& system,
           std::shared_ptr<service_state> service, const replica_info& info,
           std::shared_ptr<replica_slot> slot, ready_function ready, std::shared_ptr<connection> to,
           std::uint64_t serial);

  // In turns of their own.
  void heard(const message& m);
  void lost(const std::string& why);
  void writable();
  void stop_working(call_base& call) override;

 private:
  void starting() override;
  void on_request(ref<call_base> call) override;
  void ended() override;

  void lodged(std::shared_ptr<lodging> place, std::exception_ptr error);
  void join(std::shared_ptr<connection> to);
  void send(ref<call_base> call);
  void refuse(call_base& call, std::exception_ptr error);
  ref<call_base> take(std::uint64_t id);
  void finish(const message& m);
  void read_answer(const message& m, call_base& call);
  branch watch_over();
  void note_begun();
  void note_busy();

  remote_context& remote_;
  std::shared_ptr<const role_factory> factory_;  ///< Null where the replica is there already.
  site* there_ = nullptr;
  std::uint64_t serial_ = 0;
  std::shared_ptr<lodging> place_;
  std::shared_ptr<connection> to_;
  std::uint32_t number_ = 0;
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, ref<call_base>> in_flight_;  ///< In the order of sending.
  std::size_t executing_ = 0;  ///< Of these, calls that keep the replica busy until they return.
  list<call_base> unsent_;     ///< While the link is full.
  bool serves_ = false;
  /// Since the last ping.
  bool heard_process_ = true;
  bool goes_on_ = true;  ///< The replica was not in the same turn as at the ping before.
};

}  // namespace troupe::detail
