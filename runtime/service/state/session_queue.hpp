#pragma once
// Grants the sessions of one service's replicas, and keeps the queue of those that wait for one.
// Internal to runtime/.

#include <cstdint>
#include <exception>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/actor/inbox.hpp"
#include "runtime/coroutine/strand.hpp"

namespace troupe::detail {

class queue_waiter;
struct replica_slot;

/// The request of somebody who opens a session. Its actor holds it until a replica is granted, then
/// the session's lease holds it.
struct session_request {
  /// Asks for a replica without any session, and for none beside it later.
  bool exclusive = false;
  bool wait = true;  ///< False lets an owner in another process refuse it if no replica is free.
  time_point until = time_point::max();  ///< The deadline of its opener.
  queue_waiter* waiting = nullptr;       ///< Used by its actor only; null once it has given up.

  // The lock of the queue guards these.
  std::uint64_t by_slice = 0;  ///< The strand::slice of its opener.
  ref<inbox> who;  ///< Null once it has its replica, because others may hold the session then.
  bool queued = false;
  std::shared_ptr<replica_slot> granted;  ///< The replica where its session is open.
  std::exception_ptr error;  ///< The reason why an owner in another process has refused it.

  /// Its number on the way to an owner in another process; only that way uses it.
  std::uint64_t number = 0;
};

/// Requests of one opener that are granted together, each at another replica, or not at all. Where
/// there are several they are exclusive.
using session_group = std::vector<std::shared_ptr<session_request>>;

/// An opener that is told to look again.
struct session_call {
  ref<inbox> who;
  std::shared_ptr<session_request> request;
};

/// The connection to the process that owns a service and grants its sessions. May be used on any
/// thread.
class session_owner {
 public:
  virtual ~session_owner() = default;
  /// Asks for a session. The answer comes to the service's queue as `granted` or `refused`.
  virtual void ask(std::shared_ptr<session_request> request) = 0;
  /// Gives back a session that nobody waits for or holds any more.
  virtual void release(std::shared_ptr<session_request> request) = 0;
};

/// An opener that waits for sessions.
struct waiting_session {
  std::shared_ptr<session_request> request;  ///< The first of its group.
  ref<inbox> who;
  /// The number of replicas without a session that it needs. One that waits behind an opener that
  /// needs more needs as many.
  std::size_t count = 1;
};

/// A session that is open.
struct held_session {
  const session_request* request = nullptr;
  /// Who opened it. This is for comparison only, because the session may outlive its opener.
  const inbox* who = nullptr;
  std::uint64_t by_slice = 0;
  std::uint64_t replica = 0;  ///< The serial of its replica.
  bool exclusive = false;
};

struct session_waits {
  std::vector<waiting_session> waiting;
  std::vector<held_session> held;
};

/// Grants sessions in the order of asking, but a request for a shared session passes those that
/// wait for an exclusive one. Who asks for several sessions gets all of them at once or holds none
/// while it waits, so that two who need several can't wait for each other. A replica that becomes
/// free is given to one who waits, not to the next who asks. May be used on any thread.
///
/// Only one process grants the sessions of a service: its owner, where the supervisor is. The queue
/// of a copy in another process asks the owner, and holds the requests that wait for its answer.
class session_queue {
 public:
  /// Makes this the queue of a copy. Call it before anything else.
  void ask_at(std::shared_ptr<session_owner> owner) { owner_ = std::move(owner); }
  bool asks_elsewhere() const noexcept { return owner_ != nullptr; }

  /// Sets the replicas that serve now.
  void serve(std::shared_ptr<const std::vector<std::shared_ptr<replica_slot>>> replicas);
  /// Ends the queue: no session is opened any more, and all who wait are notified.
  void close();

  enum class place { granted, waiting, full };
  /// Opens the sessions of a group, each at the replica with the fewest, or enters the queue unless
  /// `most` groups wait already. The queue of a copy has no limit of its own, because only the
  /// owner knows how many wait; a group has one request there.
  place enter(const session_group& group, std::size_t most);
  /// Returns the replica that was granted, with a session that the taker must end; null while the
  /// request waits. Throws the error of an owner that has refused it.
  std::shared_ptr<replica_slot> take(session_request& request);
  /// Withdraws a request whose opener has given up. A session that it was granted goes to another.
  void give_up(const std::shared_ptr<session_request>& request);
  /// Ends the session that was opened for the request at `slot`.
  void end_session(const std::shared_ptr<session_request>& request, replica_slot& slot);

  /// Returns the sessions that are open and those that wait for one; none if nobody waits, or if
  /// another process owns the service.
  session_waits waits();
  /// Returns the number of groups that wait if, for `limit` up to `now`, some have waited and no
  /// session has begun or ended, as far as calls of this function can tell. Only the first such
  /// standstill is told; otherwise it returns 0.
  std::size_t note_standstill(time_point now, duration limit);

  // An owner in another process answers with these.
  /// Grants the request. Returns false if nobody waits for it any more.
  bool granted(const std::shared_ptr<session_request>& request, std::shared_ptr<replica_slot> slot);
  void refused(const std::shared_ptr<session_request>& request, std::exception_ptr error);

 private:
  void end_session(const session_request& request, replica_slot& slot);
  bool leave(session_request& request);
  bool grant(session_request& request);
  bool grant(const session_group& group);
  void grant_all(std::vector<session_call>& served);

  std::shared_ptr<session_owner> owner_;  ///< Null if this process owns the service.
  std::mutex mutex_;
  bool closed_ = false;
  std::shared_ptr<const std::vector<std::shared_ptr<replica_slot>>> replicas_;  ///< May be null.
  std::list<session_group> queue_;
  std::vector<held_session> held_;
  bool moves_ = true;  ///< True if a session has begun or ended since the last look.
  bool standstill_told_ = false;
  time_point stands_since_{};
};

}  // namespace troupe::detail
