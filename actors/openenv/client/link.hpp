#pragma once
// Internal to this folder: a connection to one server, whatever it speaks.

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "actors/openenv/protocol/protocol.hpp"
#include "actors/openenv/protocol/url.hpp"
#include "runtime/base/outcome.hpp"

namespace troupe::openenv {

class io_thread;
struct tls_trust;

struct link_limits {
  std::chrono::milliseconds connect_timeout;
  std::chrono::milliseconds
      keepalive;  ///< A server that is silent for so long is pinged, then left.
  std::size_t reply_bytes_max;
  std::shared_ptr<tls_trust> trust;  ///< For https; else it may be null.
};

/// One connection, hence one session of the server. Any thread may call it; what comes of a call is
/// told on the I/O thread, once, an error as openenv::error. Who calls it keeps that thread.
class link {
 public:
  using told = std::function<void(outcome<std::string>)>;

  virtual ~link() = default;
  /// Connects. Nothing is told but the error.
  virtual void open(told tell) = 0;
  /// Sends a request and hears the text of the reply, as on a WebSocket. `data` is an object's
  /// text, or empty. One at a time: the next one once this one was told. After an error other than
  /// a server's own there is nothing more to be had.
  virtual void ask(request_kind kind, std::string data, std::chrono::milliseconds timeout,
                   told tell) = 0;
  /// Ends the session, also while a request is under way, which is then never told. Waits for
  /// nothing.
  virtual void close() = 0;
};

/// Today's servers: GET /ws.
std::shared_ptr<link> make_websocket_link(io_thread& thread, const server_url& url,
                                          const link_limits& limits);
/// The older ones: POST /reset, POST /step, GET /state. `open` makes sure that it is one.
std::shared_ptr<link> make_http_link(io_thread& thread, const server_url& url,
                                     const link_limits& limits);

}  // namespace troupe::openenv
