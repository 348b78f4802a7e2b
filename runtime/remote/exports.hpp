#pragma once
// The replicas of this process that the other side of a connection calls: those made for it, and
// those of services that it has handles of. Internal to runtime/.

#include <map>
#include <memory>
#include <set>
#include <string>

#include "runtime/remote/exported_replica.hpp"
#include "runtime/remote/message.hpp"
#include "runtime/remote/outliving.hpp"
#include "runtime/remote/relays.hpp"

namespace troupe::detail {

class porter;

class exports {
 public:
  explicit exports(porter& by);

  // What the other side asks.
  void make(const message& m);
  void import(const message& m);
  void call(const message& m);
  void cancel(const message& m) { relays_.cancel(m.header); }
  void drop(std::uint32_t number);
  void answer_ping(const message& m);

  /// What the other side may import from here on.
  void tell_table(const std::string& name, const replica_table& replicas);
  void tell_closed(const std::string& name, const std::string& reason);
  /// The other side is about to be told of a replica outside of a table, and may import it.
  void note_told(const std::string& name, const replica_slot& slot);
  /// Tells of those of a service that were abandoned: of these no actor's end is heard.
  void tell_ends(const service_state& service);
  /// Forgets the services of replicas that have ended, once no call of theirs is under way.
  void let_go();
  void on_down(const inbox& who);

  /// The link is lost, another may come: ends what was made here and may not outlive the
  /// controller.
  void rest();
  void end_all();

 private:
  /// Replicas that a guest may have imported at a time.
  static constexpr std::size_t imported_max = 65'536;
  /// Calls of a guest's that may be under way; one more ends as overloaded.
  static constexpr std::size_t running_max = 65'536;

  /// The last table of a service that was sent.
  struct told {
    std::set<std::uint64_t> serials;
    std::uint64_t newest = 0;  ///< Of all the tables before, too.
  };
  /// What `make` asks for.
  struct wanted_role {
    remote_options about;
    serve_options options;
    std::shared_ptr<role_factory> factory;
  };

  /// Throw what the codecs throw.
  wanted_role read_role(const message& m);
  ref<call_base> read_call(const message& m, exported_replica& of);
  /// Throws wire_error where the replica's number is in use.
  void check_number(const message& m) const;
  void run(std::uint32_t number, const wanted_role& wanted, std::string recipe);
  void serves(std::uint32_t number, std::shared_ptr<replica_slot> slot);
  bool take_over(std::uint32_t number, const std::string& recipe);
  void tell_serves(std::uint32_t number, const replica_slot& slot);
  void tell_ended(std::uint32_t number, const std::string& reason);
  /// Ends what was made here.
  void end(std::uint32_t number, const exported_replica& e, const char* why);
  void note_end(std::uint32_t number, const exported_replica& e);
  void forget(const exported_replica& e);

  porter& by_;
  relays relays_;
  outliving outliving_;  ///< Of a controller that is lost.
  std::map<std::uint32_t, exported_replica> all_;
  std::map<std::string, told> told_;  ///< By service.
  /// Services of replicas that were made here and have ended, by the replicas' numbers.
  std::map<std::uint32_t, std::shared_ptr<service_state>> ending_;
};

}  // namespace troupe::detail
