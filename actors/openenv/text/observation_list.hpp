#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

namespace troupe::openenv {

/// The list of that name and length in what a game shows. Throws std::invalid_argument.
inline const nlohmann::json& list_of(std::string_view game, const nlohmann::json& observation,
                                     const char* key, std::size_t length) {
  const auto found = observation.find(key);
  if (found == observation.end() || !found->is_array() || found->size() != length)
    throw std::invalid_argument(fmt::format("{}: {}: expected a list of {} numbers, got {}", game,
                                            key, length, observation.dump()));
  return *found;
}

/// Whether it is what OpenEnv's openspiel servers show; else it is what Troupe's do.
inline bool is_openspiel(const nlohmann::json& observation) {
  return observation.contains("info_state");
}

}  // namespace troupe::openenv
