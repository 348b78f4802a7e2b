#pragma once
// A client of the tests, as rude as a test needs it to be.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace troupe {

/// One connection to this machine. Waits at most 20 s for anything.
class http_client {
 public:
  explicit http_client(std::uint16_t port, const char* address = "127.0.0.1")
      : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const timeval limit{20, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = inet_addr(address);
    if (::connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) {
      throw std::runtime_error("can't connect to port " + std::to_string(port));
    }
  }
  http_client(http_client&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
  ~http_client() {
    if (socket_ >= 0) ::close(socket_);
  }

  /// Sends what the other side takes.
  void send(const std::string& bytes) {
    for (std::size_t sent = 0; sent < bytes.size();) {
      const auto now = ::send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (now <= 0) return;
      sent += static_cast<std::size_t>(now);
    }
  }

  /// Says that nothing more will be sent.
  void finish() { ::shutdown(socket_, SHUT_WR); }

  /// Everything up to the end of the connection.
  std::string read_all() {
    std::string all;
    while (read_more(all)) {
    }
    return all;
  }

  /// Header and body of one answer, as long as its Content-Length says.
  std::string read_answer() {
    while (rest_.find("\r\n\r\n") == std::string::npos) {
      if (!read_more(rest_)) return std::exchange(rest_, {});
    }
    const auto header = rest_.find("\r\n\r\n") + 4;
    const auto field = rest_.find("Content-Length: ");
    const auto length = header + std::stoul(rest_.substr(field + 16));
    while (rest_.size() < length && read_more(rest_)) {
    }
    const auto answer = rest_.substr(0, length);
    rest_.erase(0, length);
    return answer;
  }

  /// Appends what comes next; false where nothing will.
  bool read_more(std::string& to) {
    char bytes[4096];
    const auto count = ::recv(socket_, bytes, sizeof bytes, 0);
    if (count > 0) to.append(bytes, static_cast<std::size_t>(count));
    return count > 0;
  }

  /// Whether the other side has closed; waits for it.
  bool is_closed() {
    char byte;
    return ::recv(socket_, &byte, 1, 0) == 0;
  }

 private:
  int socket_;
  std::string rest_;
};

/// One request on a connection of its own.
inline std::string ask(std::uint16_t port, const std::string& target,
                       const std::string& method = "GET") {
  http_client client(port);
  client.send(method + " " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  return client.read_all();
}

}  // namespace troupe
