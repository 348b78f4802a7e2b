#pragma once
// Views as data: which values of an OpenEnv environment's JSON are the numbers of its observations,
// and where the numbers of an action go. `env.options.view` has such a view:
//
//   {"observation": [{"pointer": "/info_state", "shape": [27]}],
//    "action": [{"pointer": "/action_id", "n": 9}],
//    "legal_actions": "/legal_actions"}

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "actors/openenv/client/numeric_worlds.hpp"

namespace troupe::openenv {

/// One value of an observation or of an action. Members that are not set are found out from the
/// server.
struct json_part {
  std::string pointer = {};  ///< The JSON pointer of the value; empty means that it is not known.
  /// The shape of a list, whose numbers may be nested or flat. Empty means one number.
  std::optional<std::vector<std::int64_t>> shape = {};
  /// The bounds of the numbers: a number or null for all of them, or a list with one each. Not set
  /// and null mean no bound.
  nlohmann::json low = nullptr, high = nullptr;
  bool bytes = false;               ///< The numbers are bytes 0 .. 255, as those of pictures.
  nlohmann::json n = nullptr;       ///< The number of choices, or a list of these.
  nlohmann::json start = 0;         ///< The first choice, or a list of these.
  nlohmann::json values = nullptr;  ///< The choices themselves, a list of JSON values.

  bool operator==(const json_part&) const = default;
};

/// A view. An empty list of parts is found out from the server.
struct json_view {
  std::vector<json_part> observation, action;
  nlohmann::json constants = nlohmann::json::object();  ///< Further members of each action.
  /// The pointer of a list of the numbers of all legal actions, or of a list of zeros and ones, one
  /// for each action. Empty means that all actions are legal.
  std::string legal_actions = {}, action_mask = {};
  /// The reward of an illegal action, which is not sent and ends the episode.
  double illegal_reward = -1;

  bool operator==(const json_view&) const = default;
};

/// Reads a view. `where` names it in messages. Throws std::invalid_argument that names the member
/// by its JSON pointer.
json_view read_view(const nlohmann::json& from, const std::string& where);
/// Returns the JSON that read_view reads.
nlohmann::ordered_json to_json(const json_view& view);

/// Returns the spaces of a view that has all of its parts: the space of the part, or a Dict of
/// several, whose names are the pointers with '.' for '/'. Throws std::invalid_argument.
env_spec spec_of(const json_view& view, const std::string& id);
/// Returns the conversion of a view that has all of its parts.
numeric_view numeric_view_of(const json_view& view, env_spec spec);

/// Returns the legal actions of an observation. Throws wrong_shape.
std::vector<std::int64_t> legal_actions_in(const json_view& view,
                                           const nlohmann::json& observation);

}  // namespace troupe::openenv
