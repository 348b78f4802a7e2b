#pragma once
// Finds out which values of a server's JSON are numbers, so that any environment of numbers trains
// without a description.

#include <cstddef>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "actors/openenv/client/client.hpp"
#include "actors/openenv/client/json_view.hpp"

namespace troupe::openenv {

/// What a server tells of its environment.
struct server_description {
  std::string url;                                   ///< It names the server in messages.
  nlohmann::json schema = nlohmann::json::object();  ///< The answer to /schema.
  std::vector<nlohmann::json> observations = {};     ///< At least the first one of an episode.
  std::string game = {};  ///< The game of OpenSpiel, if the state names one.
};

/// A view, and what of the observation is not in it.
struct found_view {
  json_view view;
  std::vector<std::string> left_out = {};  ///< Such as "/message (a text)".
};

/// Completes a view: its observation is all numbers and lists of numbers of a fixed size, or what
/// is known of OpenEnv's own environments, and its action is all members that the action's schema
/// requires. Members that `asked` has are kept. Throws openenv::error with failure::wrong_type,
/// which names the value and the option that helps.
found_view complete_view(const server_description& server, const json_view& asked = {});

/// Asks the first server for its schema and plays a few steps at random in one session, for the
/// sizes of lists and the number of actions that the schema doesn't tell, then calls complete_view.
/// Blocks. Throws openenv::error.
found_view discover_view(const client_options& servers, const json_view& asked = {});

/// Returns the whole view of a server, whose id is its address: discover_view and numeric_view_of.
numeric_view view_at(const client_options& servers, const json_view& asked = {});

/// How many sessions servers have room for.
struct session_room {
  std::size_t sessions = 0;              ///< At most as many as were asked for.
  std::exception_ptr refusal = nullptr;  ///< The openenv::error of a further session, if any.
};

/// Opens up to `count` more sessions at the same time, and closes them again. Blocks. Throws
/// openenv::error for servers that fail otherwise.
session_room room_for(const client_options& servers, std::size_t count);

}  // namespace troupe::openenv
