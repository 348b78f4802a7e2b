#pragma once
// The HTTP routes of an OpenEnv server, without the network.

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "actors/environments/vector_environment.hpp"

namespace troupe::openenv_server {

/// Makes the environment of a session or of an HTTP request. Any thread may call it.
using environment_maker = std::function<std::unique_ptr<vector_environment>()>;

/// Why a request or a session is ended if messages take too much memory.
inline constexpr const char* no_memory =
    "the server's memory for messages is full; try again later";

/// An HTTP request.
struct http_question {
  std::string_view method;
  std::string_view path;  ///< The path without the query.
  std::string_view content_type;
  std::string_view body;
};

/// The answer to an HTTP request.
struct http_reply {
  unsigned status = 200;
  std::string body;
  std::string content_type = "application/json";
  std::string allow = "";  ///< Used with status 405: the method to use.
};

/// Answers requests to /health, /metadata, /schema, /openapi.json, /mcp, /reset, /step and /state.
/// Each reset and step gets a new environment, which is destroyed after the answer, and a step
/// follows a reset. Episodes need a WebSocket.
class http_api {
 public:
  /// Makes one environment to read its spaces. Throws std::invalid_argument for an environment
  /// whose actions a step message does not carry.
  explicit http_api(environment_maker make);

  /// Returns the answer to a request that is refused, with the reason.
  static http_reply refuse(unsigned status, const std::string& why);
  /// Returns whether the answer needs an environment, which may take time.
  static bool asks_environment(const http_question& asked);
  /// Answers a request. Never throws. Several threads may call it at once.
  http_reply answer(const http_question& asked, bool is_draining) const;

  const std::string& id() const { return id_; }

 private:
  http_reply answer_post(const http_question& asked) const;

  environment_maker make_;
  std::string id_;
  std::string metadata_;  ///< the answers of /metadata and /schema
  std::string schema_;
};

/// The text of openapi.json, which is compiled in.
extern const char* const openapi_document;

}  // namespace troupe::openenv_server
