#pragma once
// The services of a connection's other side, as callers in this process see them, with a remote
// replica for each of their replicas. Internal to runtime/.

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/actor/inbox.hpp"
#include "runtime/remote/message.hpp"
#include "runtime/remote/requested_sessions.hpp"
#include "runtime/service/role/role.hpp"
#include "runtime/service/state/service_state.hpp"

namespace troupe::detail {

class peer;
struct remote_options;

class imports {
 public:
  explicit imports(peer& by) : by_(by), sessions_(by, *this) {}

  /// Returns the service that a received handle names.
  std::shared_ptr<service_state> service_of(const remote_options& options);

  requested_sessions& sessions() { return sessions_; }
  /// True if the other side has sent the service's table on this link.
  bool is_told(const service_state& service) const;
  /// Returns the slot of the replica's remote replica, which is made if there is none; null while
  /// it doesn't serve.
  std::shared_ptr<replica_slot> replica_here(const service_state& service, const table_entry& e);

  // These handle what the other side tells.
  void learn_table(const message& m);
  void learn_closed(const message& m);

  /// Returns the tickets of work that waits for room at a service of the other side.
  std::vector<std::pair<std::string, std::shared_ptr<ticket>>> room_waits() const;

  void on_down(const inbox& who);
  /// Reports that the link is lost but another may come. Calls wait for the new link.
  void rest();
  /// Asks for the services' tables again, because another link has come.
  void ask_again();
  void close(const std::string& why);
  void end_all();

  /// Makes handles in received values name services of the connection's other side, as long as the
  /// object lives.
  class arrival {
   public:
    explicit arrival(imports& by) noexcept;
    arrival(const arrival&) = delete;
    ~arrival();

   private:
    imports* before_;
  };

 private:
  struct import {
    ref<inbox> actor;
    std::shared_ptr<replica_slot> slot;  ///< Null until the remote replica serves.
    std::int64_t version = any_version;  ///< The version in the last table.
  };
  struct foreign_service {
    std::shared_ptr<service_state> service;
    std::map<std::uint64_t, import> remote_replicas;  ///< Keyed by the replicas' serials.
    bool told = false;  ///< True if their table has come on this link.
  };

  void add_remote_replica(foreign_service& of, const std::string& name, std::size_t index,
                          std::uint64_t serial);
  void stands(const std::string& name, std::uint64_t serial, std::shared_ptr<replica_slot> slot);

  peer& by_;
  requested_sessions sessions_;
  std::map<std::string, foreign_service> all_;
};

}  // namespace troupe::detail
