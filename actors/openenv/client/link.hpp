#pragma once
// Internal to this folder: a connection to one server, for either protocol.

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "actors/openenv/client/named_limit.hpp"
#include "actors/openenv/protocol/error.hpp"
#include "actors/openenv/protocol/protocol.hpp"
#include "actors/openenv/protocol/url.hpp"
#include "runtime/base/outcome.hpp"

namespace troupe::openenv {

class io_thread;
struct tls_trust;

/// The error, of reason `connect` or `handshake`, for a server that may be back a moment later:
/// nobody listens, or it says that it is not available.
class unavailable : public error {
 public:
  using error::error;
};

/// The options of a connection.
struct link_options {
  named_limit connect_timeout;
  std::chrono::milliseconds keepalive;  ///< A silent server is pinged after half of it, then left.
  std::size_t reply_bytes_max;
  std::shared_ptr<tls_trust> trust;  ///< Required for https, otherwise it may be null.
  /// Whether the server has ever answered a ping, which the link notes. Only then is it left.
  std::shared_ptr<std::atomic<bool>> answers_pings;
  std::map<std::string, std::string> headers;  ///< Fields of every request's header.
};

/// A connection, which is one session of the server. Any thread may call it, and the caller keeps
/// the io_thread alive. The result of a call is passed to `tell` once, on the I/O thread; an error
/// is an openenv::error.
class link {
 public:
  using told = std::function<void(outcome<std::string>)>;

  virtual ~link() = default;
  /// Connects. The result is an empty string or the error.
  virtual void open(told tell) = 0;
  /// Sends a request and passes the text of the reply to `tell`, in the form of a WebSocket
  /// message. `data` is the text of an object, or empty. Only one request may be open at a time.
  /// After an error other than a server's own the connection is of no more use.
  virtual void ask(request_kind kind, std::string data, named_limit timeout, told tell) = 0;
  /// Ends the session without waiting. A request that is still open ends with failure::cancelled.
  virtual void close() = 0;
};

/// Makes a connection by the current protocol: GET /ws.
std::shared_ptr<link> make_websocket_link(io_thread& thread, const server_url& url,
                                          const link_options& options);
/// Makes a connection by the older protocol: POST /reset, POST /step, GET /state. `open` checks
/// that the server uses it.
std::shared_ptr<link> make_http_link(io_thread& thread, const server_url& url,
                                     const link_options& options);

}  // namespace troupe::openenv
