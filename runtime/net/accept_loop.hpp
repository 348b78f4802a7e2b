#pragma once
// The loop of a TCP server that accepts connections. Internal to the project.

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <utility>

namespace troupe::detail {

/// Accepts connections at a port, one after the other, in the threads that run its io_context. If
/// accepting fails, for example because no file descriptor is free, it tries again every 100 ms.
class accept_loop {
 public:
  using socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp,
                                                  boost::asio::io_context::executor_type>;

  accept_loop(boost::asio::io_context& io, boost::asio::ip::tcp::acceptor at,
              std::function<void(socket)> admit)
      : io_(io), acceptor_(std::move(at)), pause_(io), admit_(std::move(admit)) {}

  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

  /// Starts the loop, which accepts connections for as long as the io_context runs.
  void accept() {
    acceptor_.async_accept(io_.get_executor(), [this](error_code error, socket came) {
      if (closed_) return;
      if (error) return retry();
      admit_(std::move(came));
      accept();
    });
  }

  /// Closes the port, on a thread that runs the io_context. If the io_context goes on, this object
  /// must outlive what is posted to it by now.
  void close() {
    error_code ignored;
    closed_ = true;
    acceptor_.close(ignored);
    pause_.cancel();
  }

 private:
  using error_code = boost::system::error_code;
  static constexpr std::chrono::milliseconds retry_after{100};

  void retry() {
    pause_.expires_after(retry_after);
    pause_.async_wait([this](error_code error) {
      if (!error && !closed_) accept();
    });
  }

  boost::asio::io_context& io_;
  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::steady_timer pause_;
  std::function<void(socket)> admit_;
  bool closed_ = false;
};

}  // namespace troupe::detail
