#pragma once
// What OpenEnv clients and servers say to each other, as JSON texts.
// https://github.com/huggingface/OpenEnv, `src/openenv/core/env_server/types.py`; the same from 0.2
// to 0.10.
//
//   client                                         server
//   {"type":"reset","data":{"seed":7}}         ->
//                                              <-  {"type":"observation","data":{RESULT}}
//   {"type":"step","data":{ACTION}}            ->
//                                              <-  {"type":"observation","data":{RESULT}}
//   {"type":"state"}                           ->
//                                              <-
//                                              {"type":"state","data":{"episode_id":..,"step_count":..}}
//   {"type":"mcp","data":{JSON-RPC request}}   ->
//                                              <-  {"type":"mcp","data":{JSON-RPC response}}
//   anything                                   ->
//                                              <-  {"type":"error","data":{"message":..,"code":..}}
//   {"type":"close"}                           ->  (closes the socket with code 1000)
//
// RESULT is {"observation":{..},"reward":number|bool|null,"done":bool}, with "metadata":{..} beside
// them from 0.4 on. Nothing in a message says which request it answers: their order does.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace troupe::openenv {

/// What the real server takes in one message (uvicorn's limit), and the real client.
inline constexpr std::size_t request_bytes_max = std::size_t{16} << 20;
inline constexpr std::size_t reply_bytes_max = std::size_t{100} << 20;
inline constexpr std::size_t depth_max = 64;  ///< Of nested values in a message.

/// Why a WebSocket was closed (RFC 6455, 7.4.1), as far as OpenEnv's ends use it.
enum class close_code : std::uint16_t {
  normal = 1000,      ///< After "close", a capacity refusal, FACTORY_ERROR and SESSION_ERROR.
  going_away = 1001,  ///< The server shuts down.
  protocol_error = 1002,
  unsupported = 1003,
  no_status = 1005,  ///< Never sent.
  bad_payload = 1007,
  too_big = 1009,         ///< A message above the receiver's limit.
  internal_error = 1011,  ///< Also "keepalive ping timeout": no pong for 20 s.
  restart = 1012,
};

enum class request_kind { reset, step, state, close, mcp };
enum class reply_kind { observation, state, mcp, error };

/// Codes of error replies. After the first four the session goes on; after the others the server
/// closes it.
enum class server_error {
  invalid_json,
  unknown_type,      ///< Of the message: none of request_kind.
  validation_error,  ///< The message or the action; "errors" lists what and where.
  execution_error,   ///< The environment threw, or its result is no JSON.
  capacity_reached,  ///< At connecting, before any request: "active_sessions" of "max_sessions".
  factory_error,     ///< At connecting: the environment could not be made.
  session_error,     ///< No object, a binary message.
  other,             ///< A code this build does not know.
};

std::string_view to_string(request_kind kind);
std::string_view to_string(reply_kind kind);
/// "VALIDATION_ERROR".
std::string_view to_string(server_error code);
/// None for other words.
std::optional<request_kind> to_request_kind(std::string_view word);
std::optional<reply_kind> to_reply_kind(std::string_view word);
/// `other` for other words.
server_error to_server_error(std::string_view word);
/// Whether the session can go on after it.
bool keeps_session(server_error code);

/// What is wrong with a text from the other end.
enum class text_fault {
  too_large,  ///< Above its limit in bytes.
  not_utf8,
  not_json,
  too_deep,    ///< Nested deeper than depth_max.
  wrong_type,  ///< JSON, but not of the form above.
};
std::string_view to_string(text_fault fault);

/// The message says what was expected and what came, with the place: "/data/reward: expected ..".
class bad_text : public std::runtime_error {
 public:
  bad_text(text_fault fault, const std::string& message)
      : std::runtime_error(message), fault_(fault) {}
  text_fault fault() const noexcept { return fault_; }

 private:
  text_fault fault_;
};

/// Any JSON text from the other end. Throws bad_text.
nlohmann::json parse_text(std::string_view text, std::size_t bytes_max);

/// What reset and step answer. OpenEnv does not tell the end of a task from a time limit.
struct result {
  nlohmann::json observation = nlohmann::json::object();
  std::optional<double> reward = std::nullopt;  ///< null at most resets; a bool is 0 or 1.
  bool ended = false;                           ///< "done".
  nlohmann::json metadata = nullptr;            ///< An object; null where the server sends none.
};
/// As it stands in "data", and in the answers of the HTTP routes. Not finite: null.
nlohmann::json to_json(const result& what);
/// Throws bad_text; `pointer` is where it stands.
result to_result(nlohmann::json data, const std::string& pointer);

/// An error reply. `details` is its whole "data", as the server has sent it.
struct error_reply {
  server_error code = server_error::other;
  std::string message;
  nlohmann::json details = nlohmann::json::object();
};

/// One message from a server: of the members, that of its kind. `data` is a state, or a JSON-RPC
/// response.
struct reply {
  reply_kind kind = reply_kind::error;
  struct result result;
  nlohmann::json data;
  error_reply error;
};
/// Throws bad_text.
reply parse_reply(std::string_view text, std::size_t bytes_max = reply_bytes_max);

/// One message of a client as text; `data` is an object's text, or empty for state and close.
std::string request_text(request_kind kind, std::string_view data);
/// One message of a server as text.
std::string reply_text(reply_kind kind, const nlohmann::json& data);
/// {"type":"error","data":{"message":..,"code":..}} and what `more` has beside them.
std::string error_text(server_error code, const std::string& message,
                       const nlohmann::json& more = nlohmann::json::object());

}  // namespace troupe::openenv
