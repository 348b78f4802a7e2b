#pragma once
// The load: callers that ask idempotent questions and know the answers, and episodes in sessions.

#include <map>
#include <string>

#include "tests/chaos/cast.hpp"

namespace troupe::chaos {

/// A request that takes longer counts as hung.
inline constexpr std::chrono::seconds hung_after{10};

/// What became of the requests of one kind.
struct request_count {
  std::int64_t begun = 0, answered = 0, wrong = 0;
  std::map<std::string, std::int64_t> failed;  ///< By the kind of error.
  duration longest{0};

  std::int64_t ended() const;
  void add(const request_count& other);
};

struct episode_count {
  std::int64_t begun = 0, finished = 0, lost = 0, wrong = 0;
  std::map<std::string, std::int64_t> failed;  ///< By any error but session_lost.
};

/// What callers and the killer share; all of them run on the program's own actor.
struct load {
  cast to;
  bool ending = false;
  request_count environment, policy, reward;
  episode_count sessions;
  std::int64_t updates = 0;  ///< Of the policy's weights, acknowledged by its replicas.
  std::int64_t stale = 0;    ///< Answers by weights older than those acknowledged before the call.
};

/// Starts them, `callers` for each service and as many episodes; they go on until the load ends.
void start_load(group& g, load& l, int callers, std::uint64_t seed);

}  // namespace troupe::chaos
