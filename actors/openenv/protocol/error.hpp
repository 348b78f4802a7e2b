#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

#include "actors/openenv/protocol/protocol.hpp"

namespace troupe::openenv {

/// Why an episode on an OpenEnv server was dropped, or a request refused.
enum class failure {
  connect,     ///< No connection: refused, unknown host, not in time.
  handshake,   ///< What answers there is no OpenEnv server that keeps sessions.
  capacity,    ///< Every server was full for as long as the client waits.
  factory,     ///< The server could not make the environment.
  timeout,     ///< No reply in time.
  closed,      ///< The server closed the connection, or died.
  too_large,   ///< A reply above the limit.
  not_utf8,    ///< A reply of other bytes.
  not_json,    ///< A reply that is no JSON, or half of one.
  too_deep,    ///< A reply nested too deeply.
  wrong_type,  ///< A reply of another form than OpenEnv's, or than the environment's own.
  unexpected,  ///< A message nobody asked for, or of another kind than asked for.
  validation,  ///< The server refused the request or the action. The session goes on.
  execution,   ///< The environment threw. The session goes on.
  session,     ///< The server ended the session with another error.
  cancelled,   ///< Nobody waits for the reply any more.
};
inline constexpr std::size_t failures = static_cast<std::size_t>(failure::cancelled) + 1;

/// "not_utf8", as metrics have it.
std::string_view to_string(failure reason);
failure to_failure(text_fault fault);
/// Of an error reply.
failure to_failure(server_error code);
/// Whether the episode can go on after it: the session is as it was.
bool keeps_session(failure reason);

/// The message names the server, the request, what was expected and what came; a server's own
/// error stands in it whole.
class error : public std::runtime_error {
 public:
  error(failure reason, const std::string& message, nlohmann::json details = nullptr)
      : std::runtime_error(message), reason_(reason), details_(std::move(details)) {}

  failure reason() const noexcept { return reason_; }
  /// "data" of the server's error reply, such as its list of validation errors; null if the server
  /// has said nothing.
  const nlohmann::json& details() const noexcept { return details_; }

 private:
  failure reason_;
  nlohmann::json details_;
};

}  // namespace troupe::openenv
