#pragma once
// Who has the sessions of one service's replicas, and who waits for one.

#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/actor/inbox.hpp"

namespace troupe::detail {

class line_member;
struct replica_slot;

/// What somebody who opens a session asks for. Its actor holds it until it has its replica.
struct session_wish {
  ref<inbox> who;
  bool exclusive = false;          ///< A replica with no other session, and none beside it later.
  line_member* waiting = nullptr;  ///< Its actor's alone; null once it has given up.

  // The line's, under its lock.
  bool in_line = false;
  std::shared_ptr<replica_slot> granted;  ///< Its session is open there.
};

/// Hands out sessions in the order of asking; who asks for a shared one passes those who wait for
/// an exclusive one. A replica that becomes free is given to who waits for it, not to who asks
/// next. Any thread.
class session_line {
 public:
  /// These replicas serve now.
  void serve(std::vector<std::shared_ptr<replica_slot>> replicas);
  /// No session is opened any more: who waits is called up.
  void close();

  enum class place { granted, waiting, full };
  /// Opens a session at the replica with the fewest, or enters the line unless `most` are there.
  place enter(const std::shared_ptr<session_wish>& wish, std::size_t most);
  /// The replica that the wish was given, with a session that the taker ends; null while it waits.
  std::shared_ptr<replica_slot> take(session_wish& wish);
  /// Its opener has given up: what it was given goes to another.
  void give_up(session_wish& wish);
  /// A session of `slot` has ended.
  void end_session(replica_slot& slot);

 private:
  bool grant(session_wish& wish);
  void grant_all(std::vector<std::shared_ptr<session_wish>>& served);

  std::mutex mutex_;
  bool closed_ = false;
  std::vector<std::shared_ptr<replica_slot>> replicas_;
  std::list<std::shared_ptr<session_wish>> line_;
};

}  // namespace troupe::detail
