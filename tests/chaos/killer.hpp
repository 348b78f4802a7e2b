#pragma once
// Kills processes of replicas at random, and measures how soon that is noticed and made good.

#include <optional>
#include <string>
#include <vector>

#include "tests/chaos/cast.hpp"

namespace troupe::chaos {

/// One SIGKILL.
struct kill_record {
  std::string service;
  std::size_t index = 0, generation = 0;
  std::int64_t pid = 0;
  std::uint64_t serial = 0;         ///< Its replica's.
  duration at{0};                   ///< Since the start.
  std::int64_t in_flight = 0;       ///< Calls that the replica held.
  time_point killed;                ///< Just before kill().
  std::optional<duration> noticed;  ///< From then until the service had lost the replica.
  std::optional<duration> back;     ///< Until its successor answered a call.
};

struct killer_options {
  duration length, every;
  std::uint64_t seed = 1;
};

/// Kills one replica of the cast, drawn at random among those that serve, each time `every` has
/// passed, for `length`; then waits until each is back, at most for `length` more.
task<std::vector<kill_record>> kill_at_random(system& sys, const cast& who, killer_options options);

/// Kills every replica of the cast at once.
task<> kill_all(const cast& who);

}  // namespace troupe::chaos
