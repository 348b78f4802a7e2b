#pragma once
// Internal to this folder: one HTTP request on a connection of its own.

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "actors/openenv/protocol/url.hpp"
#include "runtime/base/outcome.hpp"

namespace troupe::openenv {

class io_thread;
struct tls_trust;

struct outgoing_request {
  server_url url;
  std::string path;  ///< After the url's own: "/health".
  std::string body;  ///< JSON, for a POST; empty: a GET.
  std::chrono::milliseconds timeout{10'000};
  std::size_t reply_bytes_max = std::size_t{16} << 20;
  std::shared_ptr<tls_trust> trust = nullptr;  ///< For https; else it may be null.
};

struct http_answer {
  int status = 0;
  std::string body;
};

/// A request under way.
class http_call {
 public:
  virtual ~http_call() = default;
  /// Nothing is told any more. On the I/O thread.
  virtual void cancel() = 0;
};

/// Told once, on the I/O thread: an answer of whatever status, or an openenv::error. On that
/// thread, or before anything else uses the call.
std::shared_ptr<http_call> start_http_call(io_thread& thread, outgoing_request request,
                                           std::function<void(outcome<http_answer>)> tell);

}  // namespace troupe::openenv
