#pragma once
// The protocol of a session, without the network: a request as text gives an answer as text.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "actors/openenv/protocol/protocol.hpp"
#include "actors/openenv/server/action_reader.hpp"
#include "actors/openenv/server/played_environment.hpp"

namespace troupe::openenv_server {

/// The answer to a message on a WebSocket.
struct answer {
  std::string text;     ///< The text to send; empty means nothing.
  bool closes = false;  ///< Whether the session ends after it.
  std::optional<openenv::request_kind> request =
      std::nullopt;  ///< The request, if its kind was known.
  /// The error that prevented the request; nullopt means success.
  std::optional<openenv::server_error> error = std::nullopt;
};

/// The session of one client of /ws: an environment, and the answers to the client's texts.
class conversation {
 public:
  /// The session has an id for JSON-RPC; an empty one is replaced by a random one. Throws
  /// std::invalid_argument for an environment that a session can't have.
  explicit conversation(std::unique_ptr<vector_environment> one, std::string id = "");

  /// Answers a request. Never throws: an invalid text or a failure is reported in the answer.
  answer to(std::string_view text);

 private:
  answer read(std::string_view text);
  std::string carry_out(openenv::request_kind kind, const nlohmann::json& message);
  void reset(const nlohmann::json& message, std::string& to);
  void step(const nlohmann::json& message, std::string& to);

  const std::string id_;
  played_environment played_;
  space observations_;
  action_reader actions_;
  env_actions action_;
  std::optional<std::string> episode_id_;
  std::int64_t steps_ = 0;
};

/// Returns the answer to a binary message, which is an error.
answer binary_answer();
/// Returns the answer to a JSON-RPC request of the WebSocket /mcp, whose session has that id.
answer rpc_answer(std::string_view text, const std::string& session_id);
/// Returns the error of a session that can't begin.
answer session_answer(const std::string& message);
/// Returns the sentence for a full server.
std::string at_capacity(std::size_t active, std::size_t max);
/// Returns the refusal of a session because the server is full.
answer capacity_answer(std::size_t active, std::size_t max);
/// Returns the error for an environment that could not be made.
answer factory_answer(const std::string& message, const std::string& id);

}  // namespace troupe::openenv_server
