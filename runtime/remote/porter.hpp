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
  /// A guest runs roles for the other side, whose services the handles are that come with them.
  /// `closed` is called in the porter when the link has closed, as the last thing.
  porter(caf::actor_config& config, system_core& system, std::shared_ptr<connection> to, bool guest,
         std::function<void(const std::string& why)> closed);

  // In turns of its own.
  void heard(const frame& message);
  void lost(const std::string& why);
  /// The service that a handle names which has come.
  std::shared_ptr<service_state> service_of(const remote_options& options);

 private:
  /// A replica of this process that the other side has a stand-in for.
  struct exported {
    bool made_here = false;  ///< For the other side: it ends with the stand-in.
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
    };
    std::shared_ptr<service_state> service;
    std::map<std::uint64_t, one> stand_ins;  ///< By the serials of their replicas.
  };

  void starting() override;
  void ended() override;
  void on_down(const inbox& who, const std::string& reason) override;
  void root_finished(std::exception_ptr error) override;

  // As the exporter.
  void make(const frame& message);
  void serves(std::uint32_t number, std::shared_ptr<replica_slot> slot);
  void import(const frame& message);
  void call(const frame& message);
  void cancel(const frame& message);
  void drop(std::uint32_t number);
  branch relay(frame_header reply, std::shared_ptr<service_state> service,
               std::shared_ptr<replica_slot> slot, call_options options, ref<call_base> call);
  void send_result(frame_header header, call_base& call);
  void send_error(frame_header header, ending how, const std::exception_ptr& error);
  void send_ended(std::uint32_t number, const std::string& reason);
  void watch_service(const frame& message);
  branch tell_changes(std::string name, std::shared_ptr<service_state> service);
  void tell_ends(const service_state& service);

  // As the importer.
  void learn_table(const frame& message);
  void learn_closed(const frame& message);
  void add_stand_in(foreign& of, const std::string& name, std::size_t index, std::uint64_t serial);
  void stands(const std::string& name, std::uint64_t serial, std::shared_ptr<replica_slot> slot);

  const std::shared_ptr<connection> to_;
  const bool guest_;
  std::function<void(const std::string&)> closed_;
  std::map<std::uint32_t, exported> exports_;
  /// Calls that the other side awaits, by replica and id.
  std::map<std::pair<std::uint32_t, std::uint64_t>, branch*> relays_;
  std::map<std::string, foreign> foreign_;
};

/// While values are read that came over a connection, handles among them name services of its
/// other side.
class arrival {
 public:
  explicit arrival(porter& by) noexcept;
  arrival(const arrival&) = delete;
  ~arrival();

 private:
  porter* before_;
};

}  // namespace troupe::detail
