#pragma once
// The services of a connection's other side, as this side's callers see them: a stand-in for each
// of their replicas. Internal to runtime/.

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "runtime/actor/inbox.hpp"
#include "runtime/remote/message.hpp"
#include "runtime/service/role.hpp"
#include "runtime/service/state.hpp"

namespace troupe::detail {

class porter;
struct remote_options;

class imports {
 public:
  explicit imports(porter& by) : by_(by) {}

  /// The service that a handle names which has come.
  std::shared_ptr<service_state> service_of(const remote_options& options);

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
  };

  void add_stand_in(foreign_service& of, const std::string& name, std::size_t index,
                    std::uint64_t serial);
  void stands(const std::string& name, std::uint64_t serial, std::shared_ptr<replica_slot> slot);

  porter& by_;
  std::map<std::string, foreign_service> all_;
};

}  // namespace troupe::detail
