#pragma once
// The errors of openenv::client, and their reasons.

#include <cstddef>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

#include "actors/openenv/protocol/protocol.hpp"

namespace troupe::openenv {

/// The reason why an episode on an OpenEnv server was dropped or a request refused.
enum class failure {
  connect,     ///< There was no connection: refused, unknown host, or not in time.
  handshake,   ///< The address is not that of an OpenEnv server that keeps sessions.
  capacity,    ///< Every server was full for as long as the client waits.
  factory,     ///< The server could not make the environment.
  timeout,     ///< No reply came in time.
  closed,      ///< The server closed the connection or died.
  too_large,   ///< A reply was longer than the limit.
  not_utf8,    ///< A reply was not UTF-8.
  not_json,    ///< A reply was no JSON or incomplete JSON.
  too_deep,    ///< A reply was nested too deeply.
  wrong_type,  ///< A reply did not have OpenEnv's or the environment's form.
  unexpected,  ///< A message came without a request, or was of another kind.
  validation,  ///< The server refused the request or the action. The session continues.
  execution,   ///< The environment threw. The session continues.
  session,     ///< The server ended the session with another error.
  cancelled,   ///< The caller stopped waiting for the reply.
};
inline constexpr std::size_t failures = static_cast<std::size_t>(failure::cancelled) + 1;

/// Returns the name that metrics have, such as "not_utf8".
std::string_view to_string(failure reason);
failure to_failure(text_fault fault);
/// Returns the reason of an error reply with that code.
failure to_failure(server_error code);
/// Returns whether the episode can continue after such a failure, because the session is unchanged.
bool keeps_session(failure reason);

/// Thrown by sessions. The message names the server, the request, the expected and the actual
/// reply, and contains the server's own error in full.
class error : public std::runtime_error {
 public:
  error(failure reason, const std::string& message, nlohmann::json details = nullptr)
      : std::runtime_error(message), reason_(reason), details_(std::move(details)) {}

  failure reason() const noexcept { return reason_; }
  /// Returns "data" of the server's error reply, such as its list of validation errors, or null if
  /// the server sent no error.
  const nlohmann::json& details() const noexcept { return details_; }

 private:
  failure reason_;
  nlohmann::json details_;
};

}  // namespace troupe::openenv
