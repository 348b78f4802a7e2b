#pragma once
// Who has the sessions of one service's replicas, and who waits for one.

#include <cstdint>
#include <exception>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/actor/inbox.hpp"
#include "runtime/coroutine/strand.hpp"

namespace troupe::detail {

class line_member;
struct replica_slot;

/// What somebody who opens a session asks for. Its actor holds it until it has its replica, then
/// the session's lease does.
struct session_wish {
  bool exclusive = false;  ///< A replica with no other session, and none beside it later.
  bool wait = true;        ///< False: an owner elsewhere refuses it where no replica is free.
  time_point until = time_point::max();  ///< Its opener's deadline.
  line_member* waiting = nullptr;        ///< Its actor's alone; null once it has given up.

  // The line's, under its lock.
  ref<inbox> who;  ///< Null once it has its replica: others may hold the session then.
  bool in_line = false;
  std::shared_ptr<replica_slot> granted;  ///< Its session is open there.
  std::exception_ptr error;               ///< Why an owner elsewhere has refused it.

  std::uint64_t number = 0;  ///< What the way to an owner elsewhere knows it by; that one's alone.
};

/// An opener that is to look again.
struct session_call {
  ref<inbox> who;
  std::shared_ptr<session_wish> wish;
};

/// The way to the process that owns a service: sessions are granted there. Any thread.
class session_owner {
 public:
  virtual ~session_owner() = default;
  /// The answer comes to the service's line: `granted` or `refused`.
  virtual void ask(std::shared_ptr<session_wish> wish) = 0;
  /// Nobody waits for its session or holds it any more.
  virtual void release(std::shared_ptr<session_wish> wish) = 0;
};

/// Hands out sessions in the order of asking; who asks for a shared one passes those who wait for
/// an exclusive one. A replica that becomes free is given to who waits for it, not to who asks
/// next. Any thread.
///
/// One process grants the sessions of a service: its owner, which has the service's supervisor. The
/// line of a copy in another process asks there, and holds those that wait for the answer.
class session_line {
 public:
  /// The line of a copy; called before anything else is.
  void ask_at(std::shared_ptr<session_owner> owner) { owner_ = std::move(owner); }
  bool asks_elsewhere() const noexcept { return owner_ != nullptr; }

  /// These replicas serve now.
  void serve(std::shared_ptr<const std::vector<std::shared_ptr<replica_slot>>> replicas);
  /// No session is opened any more: who waits is called up.
  void close();

  enum class place { granted, waiting, full };
  /// Opens a session at the replica with the fewest, or enters the line unless `most` are there.
  /// In the line of a copy the owner knows how many wait.
  place enter(const std::shared_ptr<session_wish>& wish, std::size_t most);
  /// The replica that the wish was given, with a session that the taker ends; null while it waits.
  /// Throws what an owner elsewhere has refused it with.
  std::shared_ptr<replica_slot> take(session_wish& wish);
  /// Its opener has given up: what it was given goes to another.
  void give_up(const std::shared_ptr<session_wish>& wish);
  /// The session that was opened for the wish at `slot` has ended.
  void end_session(const std::shared_ptr<session_wish>& wish, replica_slot& slot);

  // What an owner elsewhere answers.
  /// False if nobody waits for it any more.
  bool granted(const std::shared_ptr<session_wish>& wish, std::shared_ptr<replica_slot> slot);
  void refused(const std::shared_ptr<session_wish>& wish, std::exception_ptr error);

 private:
  void end_session(replica_slot& slot);
  bool leave(session_wish& wish);
  bool grant(session_wish& wish);
  void grant_all(std::vector<session_call>& served);

  std::shared_ptr<session_owner> owner_;  ///< Null where this process owns the service.
  std::mutex mutex_;
  bool closed_ = false;
  std::shared_ptr<const std::vector<std::shared_ptr<replica_slot>>> replicas_;  ///< May be null.
  std::list<std::shared_ptr<session_wish>> line_;
};

}  // namespace troupe::detail
