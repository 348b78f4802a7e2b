#pragma once
// A TCP stream of Asio with a length before each message, and no more than that: what everything
// else is measured against. A message is written by the thread that sends it, and read by a thread
// that waits for the socket, as those of links are.

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <memory>
#include <semaphore>
#include <vector>

#include "runtime/net/io_thread.hpp"
#include "tests/bench/two_clocks.hpp"

namespace troupe::detail {

/// Sends back messages of up to so many bytes, and one byte for longer ones.
inline constexpr std::size_t bare_ping_size = 64;

/// Reads messages one after another and calls `heard` for each, on the thread of its socket.
class bare_reader {
 public:
  using socket = boost::asio::ip::tcp::socket;

  virtual ~bare_reader() = default;
  void read_next();

 protected:
  explicit bare_reader(socket from) : socket_(std::move(from)) {}
  virtual void heard() = 0;
  void write(const void* message, std::size_t size);

  socket socket_;
  std::vector<std::byte> message_;  ///< The last message.

 private:
  std::uint32_t size_ = 0;
};

/// The other end, on a loopback port. Serves until the process ends.
class bare_server final : io_thread {
 public:
  bare_server();
  ~bare_server();
  int port() const { return acceptor_.local_endpoint().port(); }

 private:
  void accept();
  boost::asio::ip::tcp::acceptor acceptor_;
};

class bare_stream final : io_thread {
 public:
  explicit bare_stream(int port);
  ~bare_stream();

  /// Seconds of one message of bare_ping_size there and back.
  cost ping(pid_t server, int times);
  /// Seconds a message of `size` bytes; `window` are under way.
  cost stream(pid_t server, int times, std::size_t size, int window);

 private:
  class end;
  std::vector<std::byte> from_;
  std::counting_semaphore<> answers_{0};
  std::unique_ptr<end> end_;
};

}  // namespace troupe::detail
