#pragma once
// The services of a connection's other side, as this side's callers see them: a stand-in for each
// of their replicas. Internal to runtime/.

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "runtime/actor/inbox.hpp"
#include "runtime/remote/asked_sessions.hpp"
#include "runtime/remote/message.hpp"
#include "runtime/service/role/role.hpp"
#include "runtime/service/state/service_state.hpp"

namespace troupe::detail {

class porter;
struct remote_options;

class imports {
 public:
  explicit imports(porter& by) : by_(by), sessions_(by, *this) {}

  /// The service that a handle names which has come.
  std::shared_ptr<service_state> service_of(const remote_options& options);

  asked_sessions& sessions() { return sessions_; }
  /// The other side has told of that service's replicas on this link.
  bool is_told(const service_state& service) const;
  /// The stand-in's of that replica, which gets one if it has none; null while it doesn't serve.
  std::shared_ptr<replica_slot> replica_here(const service_state& service, const table_entry& e);

  // What the other side tells.
  void learn_table(const message& m);
  void learn_closed(const message& m);

  void on_down(const inbox& who);
  /// The link is lost, another may come: what is called waits for it.
  void rest();
  /// Another link has come.
  void ask_again();
  void close(const std::string& why);
  void end_all();

  /// While values are read that came over a connection, handles among them name services of its
  /// other side.
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
    std::shared_ptr<replica_slot> slot;  ///< Null until it serves.
    std::int64_t version = any_version;  ///< That the last table told.
  };
  struct foreign_service {
    std::shared_ptr<service_state> service;
    std::map<std::uint64_t, import> stand_ins;  ///< By the serials of their replicas.
    bool told = false;                          ///< Of its replicas, on this link.
  };

  void add_stand_in(foreign_service& of, const std::string& name, std::size_t index,
                    std::uint64_t serial);
  void stands(const std::string& name, std::uint64_t serial, std::shared_ptr<replica_slot> slot);

  porter& by_;
  asked_sessions sessions_;
  std::map<std::string, foreign_service> all_;
};

}  // namespace troupe::detail
