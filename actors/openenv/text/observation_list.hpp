#pragma once
// Internal to this folder: lists in the observations of games.

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

namespace troupe::openenv {

/// Returns the list under `key` with that length in a game's observation. Throws
/// std::invalid_argument.
inline const nlohmann::json& list_of(std::string_view game, const nlohmann::json& observation,
                                     const char* key, std::size_t length) {
  const auto found = observation.find(key);
  if (found == observation.end() || !found->is_array() || found->size() != length)
    throw std::invalid_argument(fmt::format("{}: {}: expected a list of {} numbers, got {}", game,
                                            key, length, observation.dump()));
  return *found;
}

/// Returns whether the observation is that of OpenEnv's openspiel servers; otherwise it is that of
/// Troupe's.
inline bool is_openspiel(const nlohmann::json& observation) {
  return observation.contains("info_state");
}

}  // namespace troupe::openenv
