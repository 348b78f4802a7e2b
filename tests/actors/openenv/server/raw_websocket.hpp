#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tests/runtime/metrics/http_client.hpp"

namespace troupe {

/// The bytes of one frame of a client (RFC 6455, 5.2). Opcodes: 1 text, 2 binary, 8 close, 9 ping,
/// 10 pong; 0 goes on with a message.
std::string client_frame(std::uint8_t opcode, std::string_view payload, bool is_final = true);

/// A frame of the server.
struct server_frame {
  int opcode = -1;  ///< -1: the connection has ended.
  std::string payload;
  /// Of a close frame; 0: none.
  int close_code() const;
};

/// A WebSocket client of the tests that takes no care of anything: it answers no ping, and sends
/// whatever bytes it is given. Waits at most 20 s for anything.
class raw_websocket {
 public:
  /// Connects and asks for a WebSocket. Throws std::runtime_error with the answer where it gets
  /// none.
  /// `fields` are more lines of the request's header, each with its end.
  explicit raw_websocket(std::uint16_t port, const std::string& path = "/ws",
                         const std::string& fields = "");

  void send_bytes(const std::string& bytes) { connection_.send(bytes); }
  void send(std::string_view text) { connection_.send(client_frame(1, text)); }
  /// Says that nothing more will be sent.
  void finish() { connection_.finish(); }

  server_frame read();
  /// The next text; throws std::runtime_error where another frame comes.
  std::string read_text();
  std::string ask(std::string_view text) {
    send(text);
    return read_text();
  }
  /// The code with which the server closes; other frames before it are skipped. 0: none came.
  int read_close_code();
  /// Says goodbye, and waits until the server has hung up.
  void close();

 private:
  bool need(std::size_t bytes);

  http_client connection_;
  std::string come_;  ///< Bytes of frames that are not read yet.
};

}  // namespace troupe
