#pragma once
// The messages of OpenEnv clients and servers, as JSON texts. They are defined in
// https://github.com/huggingface/OpenEnv, `src/openenv/core/env_server/types.py`, and are the same
// from version 0.2 to 0.10.
//
//   client                                         server
//   {"type":"reset","data":{"seed":7}}         ->
//                                              <-  {"type":"observation","data":{RESULT}}
//   {"type":"step","data":{ACTION}}            ->
//                                              <-  {"type":"observation","data":{RESULT}}
//   {"type":"state"}                           ->
//                        <-  {"type":"state","data":{"episode_id":..,"step_count":..}}
//   {"type":"mcp","data":{JSON-RPC request}}   ->
//                                              <-  {"type":"mcp","data":{JSON-RPC response}}
//   anything                                   ->
//                                              <-  {"type":"error","data":{"message":..,"code":..}}
//   {"type":"close"}                           ->  (closes the socket with code 1000)
//
// RESULT is {"observation":{..},"reward":number|bool|null,"done":bool}, and from 0.4 on also has
// "metadata":{..}. A message does not say which request it answers; the order of messages does.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace troupe::openenv {

/// The longest message that the reference server (uvicorn's limit) and the reference client accept.
inline constexpr std::size_t request_bytes_max = std::size_t{16} << 20;
inline constexpr std::size_t reply_bytes_max = std::size_t{100} << 20;
inline constexpr std::size_t depth_max = 64;  ///< The deepest nesting of values in a message.

/// The codes with which OpenEnv's clients and servers close a WebSocket (RFC 6455, 7.4.1).
enum class close_code : std::uint16_t {
  normal = 1000,      ///< Sent after "close", a capacity refusal, FACTORY_ERROR, SESSION_ERROR.
  going_away = 1001,  ///< The server shuts down.
  protocol_error = 1002,
  unsupported = 1003,
  no_status = 1005,  ///< Never sent.
  bad_payload = 1007,
  too_big = 1009,         ///< A message was above the receiver's limit.
  internal_error = 1011,  ///< Also "keepalive ping timeout": no pong for 20 s.
  restart = 1012,
};

enum class request_kind { reset, step, state, close, mcp };
enum class reply_kind { observation, state, mcp, error };

/// The codes of error replies. After the first four the session continues; after the others the
/// server closes it.
enum class server_error {
  invalid_json,
  unknown_type,      ///< The type of the message is none of request_kind.
  validation_error,  ///< The message or action is invalid; "errors" lists what and where.
  execution_error,   ///< The environment threw, or its result is no JSON.
  capacity_reached,  ///< At connecting: "active_sessions" of "max_sessions" are in use.
  factory_error,     ///< At connecting: the environment could not be made.
  session_error,     ///< The message is binary or no object.
  other,             ///< A code that this build does not know.
};

std::string_view to_string(request_kind kind);
std::string_view to_string(reply_kind kind);
/// Returns the code's name in messages, such as "VALIDATION_ERROR".
std::string_view to_string(server_error code);
/// Returns nullopt for an unknown word.
std::optional<request_kind> to_request_kind(std::string_view word);
std::optional<reply_kind> to_reply_kind(std::string_view word);
/// Returns `other` for an unknown word.
server_error to_server_error(std::string_view word);
/// Returns whether the session continues after such an error.
bool keeps_session(server_error code);

/// The fault of a text that was received.
enum class text_fault {
  too_large,  ///< The text is longer than its limit in bytes.
  not_utf8,
  not_json,
  too_deep,    ///< The values are nested deeper than depth_max.
  wrong_type,  ///< The text is JSON, but not of the form above.
};
std::string_view to_string(text_fault fault);

/// Thrown for an invalid text. The message says what was expected, what came, and where:
/// "/data/reward: expected ..".
class bad_text : public std::runtime_error {
 public:
  bad_text(text_fault fault, const std::string& message)
      : std::runtime_error(message), fault_(fault) {}
  text_fault fault() const noexcept { return fault_; }

 private:
  text_fault fault_;
};

/// Parses a JSON text. Throws bad_text.
nlohmann::json parse_text(std::string_view text, std::size_t bytes_max);

/// The result of reset and step. OpenEnv does not distinguish the end of a task from a time limit.
struct result {
  nlohmann::json observation = nlohmann::json::object();
  /// Null at most resets, and where the environment gave none, or NaN, which OpenEnv's servers
  /// write as null, too. A bool counts as 0 or 1.
  std::optional<double> reward = std::nullopt;
  bool ended = false;                 ///< The member "done".
  nlohmann::json metadata = nullptr;  ///< An object, or null if the server sends none.
};
/// Returns the JSON of "data" and of the HTTP routes' answers. A reward that is not finite becomes
/// null.
nlohmann::json to_json(const result& what);
/// Reads a result; `pointer` is its place, for messages. Throws bad_text.
result to_result(nlohmann::json data, const std::string& pointer);

/// An error reply. `details` is all of its "data", as the server sent it.
struct error_reply {
  server_error code = server_error::other;
  std::string message;
  nlohmann::json details = nlohmann::json::object();
};

/// A message from a server. Only the member of its kind is set. `data` is a state or a JSON-RPC
/// response.
struct reply {
  reply_kind kind = reply_kind::error;
  struct result result;
  nlohmann::json data;
  error_reply error;
};
/// Parses a message from a server. Throws bad_text.
reply parse_reply(std::string_view text, std::size_t bytes_max = reply_bytes_max);

/// Returns a client's message as text. `data` is the text of an object, or empty for state and
/// close.
std::string request_text(request_kind kind, std::string_view data);
/// Returns a server's message as text.
std::string reply_text(reply_kind kind, const nlohmann::json& data);
/// Returns {"type":"error","data":{"message":..,"code":..}} as text, with the members of `more`
/// beside them.
std::string error_text(server_error code, const std::string& message,
                       const nlohmann::json& more = nlohmann::json::object());

}  // namespace troupe::openenv
