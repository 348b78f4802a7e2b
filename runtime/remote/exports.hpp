#pragma once
// The replicas of this process that the other side of a connection calls: those made for it, and
// those of services that it has handles of. Internal to runtime/.

#include <map>
#include <memory>
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
  void serves(std::uint32_t number, std::shared_ptr<replica_slot> slot);
  bool take_over(std::uint32_t number, const std::string& recipe);
  void tell_serves(std::uint32_t number, const replica_slot& slot);
  void tell_ended(std::uint32_t number, const std::string& reason);
  void note_end(std::uint32_t number, const exported_replica& e);
  void forget(const exported_replica& e);

  porter& by_;
  relays relays_;
  outliving outliving_;  ///< Of a controller that is lost.
  std::map<std::uint32_t, exported_replica> all_;
  /// Services of replicas that were made here and have ended, by the replicas' numbers.
  std::map<std::uint32_t, std::shared_ptr<service_state>> ending_;
};

}  // namespace troupe::detail
