#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "actors/environments/vector_environment.hpp"

namespace troupe::openenv_server {

/// Makes the one environment of a session, or of an HTTP request. Called by any thread.
using environment_maker = std::function<std::unique_ptr<vector_environment>()>;

struct http_question {
  std::string_view method;
  std::string_view path;  ///< Without the query.
  std::string_view content_type;
  std::string_view body;
};

struct http_reply {
  unsigned status = 200;
  std::string body;
  std::string content_type = "application/json";
  std::string allow = "";  ///< With 405: the verb to use.
};

/// The HTTP routes of an OpenEnv server, apart from how bytes travel: health, metadata, schema,
/// openapi.json, mcp; and reset, step and state, each on a fresh environment that is gone with the
/// answer: a step is one after a reset. Episodes are for the WebSocket.
class http_api {
 public:
  /// Makes one environment, to know its spaces. Throws std::invalid_argument for one whose actions
  /// a step message does not carry.
  explicit http_api(environment_maker make);

  /// To one that may not ask: 403, and why.
  static http_reply refuse(const std::string& why);
  /// Whether the answer is made by an environment, which may take its time.
  static bool asks_environment(const http_question& asked);
  /// Never throws. May be called by several threads at once.
  http_reply answer(const http_question& asked, bool is_draining) const;

  const std::string& id() const { return id_; }

 private:
  http_reply answer_post(const http_question& asked) const;

  environment_maker make_;
  std::string id_;
  std::string metadata_;  ///< The texts of /metadata and /schema.
  std::string schema_;
};

/// openapi.json, compiled in.
extern const char* const openapi_document;

}  // namespace troupe::openenv_server
