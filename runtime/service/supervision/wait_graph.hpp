#pragma once
// Which services wait for each other in a cycle, so that none of them can go on: decided from who
// waits for what, without a look at any actor.

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace troupe::detail {

/// A replica that works on as many coroutine calls as it may.
struct busy_replica {
  std::uint64_t id = 0;
  std::size_t ongoing = 0;  ///< Calls that it works on, > 0.
  /// It holds these and coroutine calls behind them, nothing else: room comes by their ends alone.
  bool full = false;
};

/// A call that a replica works on: the replica, and a number of its own among those.
using work_id = std::pair<std::uint64_t, std::uint64_t>;

/// A call that an endpoint awaits.
struct awaited_call {
  enum class stage {
    for_room,     ///< It waits for room at a replica, or at any.
    in_queue,     ///< It is behind those that its replica works on.
    in_endpoint,  ///< Its replica works on it.
  };
  static constexpr std::uint64_t any_replica = 0;

  work_id by;                      ///< What awaits it.
  std::size_t from = 0;            ///< The service of the replica that awaits it.
  std::size_t to = 0;              ///< The service that is called.
  std::uint64_t at = any_replica;  ///< The replica of it.
  stage where = stage::for_room;
  std::uint64_t work = 0;  ///< Of one that is in its endpoint: its number among that replica's.
};

struct wait_graph {
  std::vector<busy_replica> busy;
  /// The replicas of each service that serve, those that are not busy too.
  std::map<std::size_t, std::vector<std::uint64_t>> ready;
  std::vector<awaited_call> calls;
};

struct wait_cycle {
  /// Each calls the next, the last the first; from the one of the lowest number on.
  std::vector<std::size_t> services;
  /// The calls between these that have not begun: their places in wait_graph::calls.
  std::vector<std::size_t> calls;
};

/// The cycles in which nothing can go on. Work is blocked if a call that it awaits waits for
/// blocked work: is it, or is behind a replica that is busy with nothing else, or wants room and
/// all replicas that could give it are full and busy with nothing else. A cycle that ends when the
/// calls of one before it do is left out.
std::vector<wait_cycle> cycles_of(const wait_graph& graph);

}  // namespace troupe::detail
