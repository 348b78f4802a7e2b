#pragma once
// Serves the other side of a connection: makes roles for it, calls replicas of this process in its
// name, tells it what becomes of them; and keeps this side's copies of its services. One for each
// connection. Internal to runtime/.

#include <map>

#include "runtime/actor/host.hpp"
#include "runtime/remote/connection.hpp"
#include "runtime/service/role.hpp"

namespace troupe::detail {

struct remote_options;

class porter final : public host {
 public:
  /// A guest runs roles for a host; the handles that come with them name the host's services. It
  /// ends with its link, but for a resident, which rests until it has another one: what it runs may
  /// outlive the controller.
  enum class side { host, guest, resident };

  /// `closed` is called in the porter when the link has closed; unless it is a resident, as the
  /// last thing.
  porter(caf::actor_config& config, system_core& system, std::shared_ptr<connection> to, side mine,
         std::function<void(const std::string& why)> closed);

  // In turns of its own.
  void heard(const message& m);
  void lost(const std::string& why);
  /// Of a resident: it has another link, the one before being lost or about to be.
  void join(std::shared_ptr<connection> to);
  void leave();
  /// The service that a handle names which has come.
  std::shared_ptr<service_state> service_of(const remote_options& options);

 private:
  /// A replica of this process that the other side has a stand-in for.
  struct exported {
    bool made_here = false;  ///< For the other side: it ends with the stand-in.
    std::string recipe;      ///< All that it was made from, where it may outlive the controller.
    time_point until{};      ///< Of one that has.
    std::shared_ptr<service_state> service;
    ref<inbox> actor;
    std::shared_ptr<replica_slot> slot;  ///< Null until it serves.
    std::map<const call_kind*, const void*> access;
  };
  /// A service of the other side, as this side's callers see it.
  struct foreign {
    struct one {
      ref<inbox> actor;
      std::shared_ptr<replica_slot> slot;  ///< Null until it serves.
      std::int64_t version = any_version;  ///< That the last table told.
    };
    std::shared_ptr<service_state> service;
    std::map<std::uint64_t, one> stand_ins;  ///< By the serials of their replicas.
  };

  void starting() override;
  void ended() override;
  void on_down(const inbox& who, const std::string& reason) override;
  void root_finished(std::exception_ptr error) override;

  // As the exporter.
  void make(const message& m);
  void serves(std::uint32_t number, std::shared_ptr<replica_slot> slot);
  void import(const message& m);
  void tell_serves(std::uint32_t number, const replica_slot& slot);
  void call(const message& m);
  void cancel(const message& m);
  void drop(std::uint32_t number);
  void answer_ping(const message& m);
  bool take_over(std::uint32_t number, const std::string& recipe);
  void rest();
  branch end_outliving(duration after);
  branch relay(message_header reply, std::shared_ptr<service_state> service,
               std::shared_ptr<replica_slot> slot, call_options options, ref<call_base> call);
  void send_result(message_header header, call_base& call);
  void send_error(message_header header, ending how, const std::exception_ptr& error);
  void send_ended(std::uint32_t number, const std::string& reason);
  void note_end(std::uint32_t number, exported& e);
  void forget(const exported& e);
  void let_go();
  branch tell_metrics(std::uint64_t id, std::shared_ptr<connection> to);
  void watch_service(const message& m);
  branch tell_changes(std::string name, std::shared_ptr<service_state> service,
                      std::shared_ptr<connection> to);
  void tell_ends(const service_state& service);

  // As the importer.
  void learn_table(const message& m);
  void learn_closed(const message& m);
  void add_stand_in(foreign& of, const std::string& name, std::size_t index, std::uint64_t serial);
  void stands(const std::string& name, std::uint64_t serial, std::shared_ptr<replica_slot> slot);

  std::shared_ptr<connection> to_;
  const side mine_;
  bool resting_ = false;
  std::shared_ptr<connection> next_;  ///< While the one before is not heard to be lost.
  std::function<void(const std::string&)> closed_;
  std::map<std::uint32_t, exported> exports_;
  /// Calls that the other side awaits, by replica and id.
  std::map<std::pair<std::uint32_t, std::uint64_t>, branch*> relays_;
  /// Services of replicas that were made here and have ended, by the replicas' numbers.
  std::map<std::uint32_t, std::shared_ptr<service_state>> ending_;
  std::vector<exported> outliving_;  ///< Of a controller that is lost.
  std::map<std::string, foreign> foreign_;
};

/// Starts one, which opens the connection.
ref<inbox> start_porter(system_core& system, std::shared_ptr<connection> to, porter::side mine,
                        std::function<void(const std::string& why)> closed = nullptr);

}  // namespace troupe::detail
