#pragma once
// The actor at one end of a connection. It passes the other side's requests and answers to the part
// that handles them, and ends with the link or outlasts it. There is one for each connection.
// Internal to runtime/.

#include <map>
#include <string>

#include "runtime/remote/connection.hpp"
#include "runtime/remote/exports.hpp"
#include "runtime/remote/granted_sessions.hpp"
#include "runtime/remote/imports.hpp"
#include "runtime/remote/remote_context.hpp"
#include "runtime/service/call/host.hpp"

namespace troupe::detail {

class peer final : public reserved_host {
 public:
  /// The side of the link. A host or guest ends with its link. A resident waits for another link,
  /// because the replicas that it runs may outlive the controller.
  using side = link_side;

  /// `closed` is called in the peer when the link has closed; unless it is a resident, as the
  /// last thing.
  peer(caf::actor_config& config, remote_context& system, turns by, std::shared_ptr<connection> to,
       side mine, std::function<void(const std::string& why)> closed);

  /// Returns the peer whose turn it is.
  static peer& here() { return static_cast<peer&>(static_cast<host&>(strand::current())); }

  // Each of these is called in a turn of its own.
  void heard(const message& m);
  void lost(const std::string& why);
  /// Tells the other side, which asks for a service's replicas, of them from now on, if it has a
  /// handle of the service.
  void watch_service(const std::string& name);
  /// Gives a resident another link. Its old link is lost or about to be lost.
  void join(std::shared_ptr<connection> to);
  void leave();

  // The parts of the peer use these.
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
  child_task tell_changes(std::string name, std::shared_ptr<service_state> service);
  child_task tell_metrics(std::uint64_t id, std::shared_ptr<connection> to);

  remote_context& system_;
  std::shared_ptr<connection> to_;
  const side mine_;
  bool resting_ = false;
  std::shared_ptr<connection> next_;  ///< The next link, until the loss of the old one is reported.
  std::function<void(const std::string&)> closed_;
  exports exports_;
  granted_sessions granted_;
  imports imports_;
  /// The services whose changes the other side is told, by name, with their numbers.
  std::map<std::string, std::size_t> watched_;
};

/// Starts a peer, which opens the connection.
ref<inbox> start_peer(remote_context& system, std::shared_ptr<connection> to, peer::side mine,
                      std::function<void(const std::string& why)> closed = nullptr);

}  // namespace troupe::detail
