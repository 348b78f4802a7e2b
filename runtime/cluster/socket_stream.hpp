#pragma once
// The bytes of one connection, in plain text or in TLS. Internal to this folder.

#include <boost/asio/buffer.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/net/accept_loop.hpp"

namespace troupe::detail {

/// Used on the thread of link_context(), apart from send_now and unacknowledged_for.
class socket_stream {
 public:
  using socket = accept_loop::socket;
  using error_code = boost::system::error_code;
  using buffers = std::vector<boost::asio::const_buffer>;
  using tls_side = boost::asio::ssl::stream_base::handshake_type;

  explicit socket_stream(socket made) : socket_(std::move(made)) {}
  socket_stream(const socket_stream&) = delete;

  socket& plain() { return socket_; }
  bool secure() const { return tls_.has_value(); }
  /// The state of TLS, after `agree_on_tls` was called.
  SSL& tls() { return *tls_->native_handle(); }

  /// Agrees on TLS. Everything that is read and written afterwards is encrypted.
  template <class Then>
  void agree_on_tls(std::shared_ptr<boost::asio::ssl::context> with, tls_side side, Then then) {
    context_ = std::move(with);
    tls_.emplace(socket_, *context_);
    tls_->async_handshake(side, std::move(then));
  }

  /// Reads as many bytes as the buffer has.
  template <class Then>
  void read_all(boost::asio::mutable_buffer into, Then then) {
    if (tls_) return boost::asio::async_read(*tls_, into, std::move(then));
    boost::asio::async_read(socket_, into, std::move(then));
  }
  template <class Then>
  void read_some(boost::asio::mutable_buffer into, Then then) {
    if (tls_) return tls_->async_read_some(into, std::move(then));
    socket_.async_read_some(into, std::move(then));
  }
  /// Writes all bytes. TLS cuts them into records of at most 16 KiB and copies no more than that at
  /// a time.
  template <class Then>
  void write_all(const buffers& pieces, Then then) {
    if (tls_) return boost::asio::async_write(*tls_, pieces, std::move(then));
    boost::asio::async_write(socket_, pieces, std::move(then));
  }

  enum class sent { all, some, failed };
  /// Gives the socket as much as it takes without waiting, in plain text. Removes from `left` what
  /// it took. May be called on any thread, by one at a time, while the socket is open.
  sent send_now(buffers& left);

  /// Returns for how long the other machine has acknowledged nothing of what it was sent; zero if
  /// it has acknowledged everything. Does not depend on what this side or the other one reads. May
  /// be called on any thread while the socket is open.
  std::chrono::milliseconds unacknowledged_for();

  void close() {
    error_code ignored;
    socket_.close(ignored);
  }

 private:
  socket socket_;
  std::shared_ptr<boost::asio::ssl::context> context_;
  std::optional<boost::asio::ssl::stream<socket&>> tls_;
};

}  // namespace troupe::detail
