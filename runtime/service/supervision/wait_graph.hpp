#pragma once
// Finds services that wait for each other in a cycle so that none of them can go on. It decides
// from a list of the waiting calls alone and touches no actor. Internal to runtime/.

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace troupe::detail {

/// A replica that works on as many coroutine calls as it may.
struct busy_replica {
  std::uint64_t id = 0;
  std::size_t ongoing = 0;  ///< The number of calls that it works on, > 0.
  /// True if it holds only these calls and coroutine calls behind them, so that room comes only
  /// when they end.
  bool full = false;
};

/// A call that a replica works on: the replica's id, and the call's number at that replica.
using work_id = std::pair<std::uint64_t, std::uint64_t>;

/// A call that an endpoint awaits.
struct awaited_call {
  /// The stages of a call that is awaited.
  enum class stage {
    for_session,  ///< No call yet: a session is awaited.
    for_room,     ///< It waits for room at one replica or at any.
    in_queue,     ///< It is behind the calls that its replica works on.
    in_endpoint,  ///< Its replica works on it.
  };
  static constexpr std::uint64_t any_replica = 0;

  work_id by;                      ///< The work that awaits it.
  std::size_t from = 0;            ///< The service of the replica that awaits it.
  std::size_t to = 0;              ///< The service that is called.
  std::uint64_t at = any_replica;  ///< The called replica of that service.
  stage where = stage::for_room;
  std::uint64_t work = 0;  ///< The call's number at its replica if it is in an endpoint.
  // Of a wait for a session.
  bool exclusive = false;  ///< It needs replicas without any session.
  std::size_t count = 1;   ///< The number of replicas that it needs.
};

/// A session that work has opened at a replica.
struct held_by_work {
  work_id by;
  std::uint64_t replica = 0;
  bool exclusive = false;
};

struct wait_graph {
  std::vector<busy_replica> busy;
  /// The serving replicas of each service, also those that are not busy.
  std::map<std::size_t, std::vector<std::uint64_t>> ready;
  std::vector<awaited_call> calls;
  std::vector<held_by_work> sessions;
};

struct wait_cycle {
  /// The services in order: each calls the next one, the last calls the first. A service whose
  /// session is awaited is followed by the one whose work holds such a session. The list begins
  /// with the lowest number.
  std::vector<std::size_t> services;
  /// The calls between these services that have not begun, as positions in wait_graph::calls.
  std::vector<std::size_t> calls;
};

/// Returns the cycles in which nothing can go on. Work is blocked if a call that it awaits can't go
/// on. A call in an endpoint can't go on if it is blocked work itself. A call in a queue can't go
/// on if its replica is busy with blocked work only. A call that wants room can't go on if every
/// replica that could give it is full and busy with blocked work only. A wait for a session can't
/// go on if too few replicas are left beside those with a session that blocked work holds. A cycle
/// is left out if it ends when the calls of a cycle before it do.
std::vector<wait_cycle> cycles_of(const wait_graph& graph);

}  // namespace troupe::detail
