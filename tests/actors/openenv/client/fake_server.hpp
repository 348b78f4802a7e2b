#pragma once
// A server that says whatever a test wants, byte for byte, on a port of its own; a thread for each
// connection.

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime/base/descriptor.hpp"

namespace troupe::openenv {

/// One WebSocket, after its handshake. What is sent to a client that has gone is lost.
class fake_connection {
 public:
  explicit fake_connection(int socket) : socket_(socket) {}

  /// The payload of the next text frame; empty once the client has gone. Answers pings.
  std::string receive();
  void send_text(const std::string& payload) { send_frame(0x81, payload); }
  /// `head`: FIN and opcode.
  void send_frame(std::uint8_t head, const std::string& payload);
  /// A frame's first bytes, which announce so much payload.
  void send_head(std::uint8_t head, std::uint64_t payload);
  void send_close(std::uint16_t code, const std::string& reason);
  /// False once the client has gone.
  bool send_raw(const std::string& bytes);

 private:
  bool read(char* to, std::size_t count);
  int socket_;
};

/// A request that is no WebSocket's.
struct fake_request {
  std::string method;
  std::string path;
  std::string body;
};

class fake_server {
 public:
  struct behaviour {
    /// Serves one WebSocket; the connection closes when it returns. Null: none is accepted.
    std::function<void(fake_connection&)> session;
    /// Answers other requests: the status and the body. Null: 404.
    std::function<std::pair<int, std::string>(const fake_request&)> http;
    /// Carries bytes between a client's socket and the one that is served, until either ends:
    /// TLS. Null: the client's is served.
    std::function<void(int client, int served)> front = nullptr;
  };
  /// `port` 0: any free one.
  explicit fake_server(behaviour how, std::uint16_t port = 0);
  /// Cuts every connection.
  ~fake_server();

  std::uint16_t port() const { return port_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  /// WebSockets that were accepted.
  int accepted() const { return accepted_; }
  /// The headers of all requests so far, those for WebSockets among them.
  std::vector<std::string> heads() const {
    const std::lock_guard lock(mutex_);
    return heads_;
  }

 private:
  struct guest {
    troupe::detail::descriptor socket;
    std::thread thread;
    std::atomic<bool> gone{false};
  };
  void accept_all();
  void serve(int socket);
  void serve_behind_front(int client);

  behaviour how_;
  troupe::detail::descriptor listener_;
  std::uint16_t port_ = 0;
  std::atomic<bool> stopping_{false};
  std::atomic<int> accepted_{0};
  mutable std::mutex mutex_;
  std::vector<std::string> heads_;
  std::list<guest> guests_;
  std::thread thread_;
};

}  // namespace troupe::openenv
