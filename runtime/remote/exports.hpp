#pragma once
// The replicas of this process that the other side of a connection calls: those made for it, and
// those of services that it has handles of. Internal to runtime/.

#include <map>
#include <memory>
#include <set>
#include <string>

#include "runtime/remote/byte_count.hpp"
#include "runtime/remote/exported_replica.hpp"
#include "runtime/remote/forwarded_calls.hpp"
#include "runtime/remote/message.hpp"
#include "runtime/remote/orphaned_replicas.hpp"

namespace troupe::detail {

class peer;
struct replica_waits;

class exports {
 public:
  explicit exports(peer& by);

  // These handle the other side's requests.
  void make(const message& m);
  void import(const message& m);
  void call(const message& m);
  void cancel(const message& m) { forwarded_.cancel(m.header); }
  void drop(const message_header& header);
  void answer_ping(const message& m);
  /// Asks a replica that was made here for its calls, and tells the other side.
  void ask_waits(std::uint32_t number);
  /// Ends the wait for room of work here, because it is in a cycle.
  void end_wait(const message& m);

  /// Sends the table of a service's replicas, which the other side may import from now on.
  void tell_table(const std::string& name, const replica_table& replicas);
  /// Tells the other side that the service with this connection::given_number has ended.
  void tell_closed(const std::string& name, std::optional<std::uint64_t> number,
                   const std::string& reason);
  /// Reports that the other side is about to be told of one replica outside a table and may import
  /// it.
  void note_told(const std::string& name, const replica_slot& slot);
  /// Tells the other side which replicas of a service were abandoned, because their actors can't
  /// report their end.
  void tell_ends(const service_state& service);
  /// The bytes of the other side's calls that are under way or still in a queue here. Only the
  /// calls of a guest are counted.
  std::size_t call_bytes() const { return calls_->bytes(); }
  /// Forgets the services of replicas that have ended, once no call of theirs is under way.
  void let_go();
  void on_down(const inbox& who);

  /// Reports that the link is lost but another may come. Ends the replicas that were made here and
  /// may not outlive the controller.
  void rest();
  void end_all();

 private:
  /// The largest number of replicas that a guest may have imported at a time.
  static constexpr std::size_t imported_max = 65'536;
  /// The largest number of a guest's calls under way; a further call ends as overloaded.
  static constexpr std::size_t running_max = 65'536;
  /// The bytes that a call under way takes here beside those of its message.
  static constexpr std::size_t call_overhead = 1024;

  /// The last table of a service that was sent to the other side.
  struct told {
    std::set<std::uint64_t> serials;
    std::uint64_t newest = 0;  ///< The largest serial in this and all earlier tables.
  };
  /// The role that a `make` message asks for.
  struct wanted_role {
    remote_options about;
    serve_options options;
    std::shared_ptr<role_factory> factory;
  };

  /// These throw what the codecs throw.
  wanted_role read_role(const message& m);
  /// Throws call_error of kind overloaded for a call of a guest that exceeds a bound.
  void require_room(const message& m) const;
  ref<call_base> read_call(const message& m, exported_replica& of);
  /// Throws wire_error if the replica's number is in use.
  void check_number(const message& m) const;
  void run(std::uint32_t number, const wanted_role& wanted, std::string role_spec);
  void serves(std::uint32_t number, std::shared_ptr<replica_slot> slot);
  bool take_over(std::uint32_t number, const std::string& role_spec);
  void tell_waits(std::uint32_t number, const replica_slot& slot, const replica_waits& waits);
  void tell_serves(std::uint32_t number, const replica_slot& slot);
  void tell_ended(std::uint32_t number, const std::string& reason);
  /// Ends a replica that was made here.
  void end(std::uint32_t number, const exported_replica& e, const char* why);
  void note_end(std::uint32_t number, const exported_replica& e);
  void forget(const exported_replica& e);

  peer& by_;
  const std::shared_ptr<byte_count> calls_;
  forwarded_calls forwarded_;
  orphaned_replicas orphaned_;  ///< The replicas that outlive a lost controller.
  std::map<std::uint32_t, exported_replica> all_;
  std::map<std::string, told> told_;  ///< Keyed by the service's name.
  /// The services of replicas that were made here and have ended, keyed by the replicas' numbers.
  std::map<std::uint32_t, std::shared_ptr<service_state>> ending_;
};

}  // namespace troupe::detail
