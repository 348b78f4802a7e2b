#pragma once
// The sessions of the other side's services that this process waits for or holds. The other side
// grants them. Internal to runtime/.
//
//   unsent ──open──> sent ──opened──> placing ──remote replica serves──> held ──release──>
//
// A service's requests stay unsent until the other side has sent the table of its replicas on this
// link. This link may be a later one than the link on which the handle came.

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "runtime/remote/message.hpp"
#include "runtime/remote/table_entry.hpp"
#include "runtime/service/state/service_state.hpp"

namespace troupe::detail {

class imports;
class peer;

class requested_sessions {
 public:
  requested_sessions(peer& by, imports& of) : by_(by), imports_(of) {}

  /// Returns the owner that the queue of the service's copy asks.
  std::shared_ptr<session_owner> owner_of(const std::shared_ptr<service_state>& service);

  /// Handles the other side's answer.
  void opened(const message& m);

  // These report what happens to services and replicas here.
  /// The other side has sent the service's table on this link.
  void told(const std::string& service);
  /// The replica with this serial has a remote replica that serves.
  void stands(std::uint64_t serial);
  void remote_replica_ended(std::uint64_t serial);
  void closed(const service_state& service);

  /// Reports that the link is lost but another may come. Waiting requests wait for the new link;
  /// the sessions that are held have ended with their remote replicas.
  void rest();
  void end_all();

 private:
  enum class stage { unsent, sent, placing, held };
  struct asked {
    std::shared_ptr<session_request> request;
    std::shared_ptr<service_state> service;
    requested_sessions::stage stage = stage::unsent;
    table_entry granted{};  ///< The granted replica; used in the stage `placing`.
    std::shared_ptr<replica_slot>
        slot;  ///< The slot of its remote replica; used in the stage `held`.
  };
  class owner_proxy;
  class deferred_release;

  void ask(std::shared_ptr<service_state> service, std::shared_ptr<session_request> request);
  void release(const session_request& request);
  void wait_unsent(std::uint64_t id, asked& a);
  void send_open(std::uint64_t id, asked& a);
  void send_release(std::uint64_t id);
  void ask_again(std::uint64_t id, asked& a);
  void place(std::uint64_t id, asked& a);
  std::set<std::uint64_t> placed_at(std::uint64_t serial);

  peer& by_;
  imports& imports_;
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, asked> all_;
  std::map<std::string, std::set<std::uint64_t>> unsent_;     ///< Keyed by the service's name.
  std::map<std::uint64_t, std::set<std::uint64_t>> placing_;  ///< Keyed by the replicas' serials.
};

}  // namespace troupe::detail
