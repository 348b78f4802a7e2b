#pragma once
// Internal to this folder: a single HTTP request on a connection of its own.

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "actors/openenv/client/named_limit.hpp"
#include "actors/openenv/protocol/url.hpp"
#include "runtime/base/outcome.hpp"

namespace troupe::openenv {

class io_thread;
struct tls_trust;

struct outgoing_request {
  server_url url;
  std::string path;  ///< The path after the url's own: "/health".
  std::string body;  ///< JSON for a POST; empty means a GET.
  named_limit timeout{std::chrono::milliseconds(10'000)};
  std::size_t reply_bytes_max = std::size_t{16} << 20;
  std::shared_ptr<tls_trust> trust = nullptr;  ///< Required for https, otherwise it may be null.
  std::map<std::string, std::string> headers = {};  ///< Further fields of the header.
};

struct http_answer {
  int status = 0;
  std::string body;
};

/// A request that has been started.
class http_call {
 public:
  virtual ~http_call() = default;
  /// Cancels the request, so `tell` is no longer called. Must be called on the I/O thread.
  virtual void cancel() = 0;
};

/// Starts a request. `tell` is called once, on the I/O thread, with an answer of any status or with
/// an openenv::error. May be called on the I/O thread, or on another thread that does not use the
/// call until then.
std::shared_ptr<http_call> start_http_call(io_thread& thread, outgoing_request request,
                                           std::function<void(outcome<http_answer>)> tell);

}  // namespace troupe::openenv
