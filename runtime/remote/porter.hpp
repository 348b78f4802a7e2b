#pragma once
// An end of a connection as an actor: hands on what the other side asks and tells, to the part of
// it that this concerns, and outlasts or ends with the link. One for each connection. Internal to
// runtime/.

#include <set>

#include "runtime/remote/connection.hpp"
#include "runtime/remote/exports.hpp"
#include "runtime/remote/granted_sessions.hpp"
#include "runtime/remote/imports.hpp"
#include "runtime/remote/remote_context.hpp"
#include "runtime/service/call/host.hpp"

namespace troupe::detail {

class porter final : public reserved_host {
 public:
  /// It ends with its link, but for a resident, which rests until it has another one: what it runs
  /// may outlive the controller.
  using side = link_side;

  /// `closed` is called in the porter when the link has closed; unless it is a resident, as the
  /// last thing.
  porter(caf::actor_config& config, remote_context& system, turns by,
         std::shared_ptr<connection> to, side mine,
         std::function<void(const std::string& why)> closed);

  /// In a turn of a porter: it.
  static porter& here() { return static_cast<porter&>(static_cast<host&>(strand::current())); }

  // In turns of its own.
  void heard(const message& m);
  void lost(const std::string& why);
  /// The other side asks for the replicas of a service: it is told of them from here on if it has a
  /// handle of it.
  void watch_service(const std::string& name);
  /// Of a resident: it has another link, the one before being lost or about to be.
  void join(std::shared_ptr<connection> to);
  void leave();

  // For its parts.
  exports& exported() { return exports_; }
  imports& imported() { return imports_; }
  remote_context& system() const { return system_; }
  side mine() const { return mine_; }
  connection& way() const { return *to_; }
  const std::shared_ptr<connection>& shared_way() const { return to_; }
  using host::cancel_root;
  using host::start_root;
  using host::watch;

 private:
  void starting() override;
  void ended() override;
  void on_down(const inbox& who, const std::string& reason) override;
  void root_finished(std::exception_ptr error) override;

  void act_on(const message& m);
  void rest();
  branch tell_changes(std::string name, std::shared_ptr<service_state> service);
  branch tell_metrics(std::uint64_t id, std::shared_ptr<connection> to);

  remote_context& system_;
  std::shared_ptr<connection> to_;
  const side mine_;
  bool resting_ = false;
  std::shared_ptr<connection> next_;  ///< While the one before is not heard to be lost.
  std::function<void(const std::string&)> closed_;
  exports exports_;
  granted_sessions granted_;
  imports imports_;
  std::set<std::string> watched_;  ///< Services that the other side is told of.
};

/// Starts one, which opens the connection.
ref<inbox> start_porter(remote_context& system, std::shared_ptr<connection> to, porter::side mine,
                        std::function<void(const std::string& why)> closed = nullptr);

}  // namespace troupe::detail
