#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "actors/openenv/protocol/protocol.hpp"
#include "actors/openenv/server/action_reader.hpp"
#include "actors/openenv/server/played_environment.hpp"

namespace troupe::openenv_server {

/// What a WebSocket's client is told.
struct answer {
  std::string text;     ///< Empty: nothing.
  bool closes = false;  ///< The session ends after it.
  std::optional<openenv::request_kind> request =
      std::nullopt;  ///< What was asked, if that was known.
  std::optional<openenv::server_error> error = std::nullopt;  ///< What kept it from being done.
};

/// One session of /ws, apart from how bytes travel: an environment, and the answers to texts.
class conversation {
 public:
  /// Throws std::invalid_argument for environments that a session can't have.
  explicit conversation(std::unique_ptr<vector_environment> one);

  /// Never throws: whatever is wrong with a text, or goes wrong, is an answer.
  answer to(std::string_view text);

 private:
  answer read(std::string_view text);
  std::string carry_out(openenv::request_kind kind, const nlohmann::json& message);
  void reset(const nlohmann::json& message, std::string& to);
  void step(const nlohmann::json& message, std::string& to);

  played_environment played_;
  space observations_;
  action_reader actions_;
  env_actions action_;
  std::optional<std::string> episode_id_;
  std::int64_t steps_ = 0;
};

/// A binary message can't be understood.
answer binary_answer();
/// Of /mcp: JSON-RPC.
answer rpc_answer(std::string_view text);
/// The refusal of a session more.
answer capacity_answer(std::size_t active, std::size_t max);
/// The environment could not be made.
answer factory_answer(const std::string& message, const std::string& id);

}  // namespace troupe::openenv_server
