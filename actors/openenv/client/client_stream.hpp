#pragma once
// Internal to this folder: the stream below the client's WebSockets and HTTP requests, which is TCP
// or TLS over TCP. Each read and each write is one virtual call, so that the operations of Beast
// are compiled once for both.

#include <boost/asio/async_result.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/bind_handler.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/websocket/teardown.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/openenv/protocol/url.hpp"

namespace troupe::openenv {

struct tls_trust;

/// A connection to a server, as an AsyncReadStream and AsyncWriteStream of Asio.
class client_stream {
 public:
  using error_code = boost::beast::error_code;
  using executor_type = boost::beast::tcp_stream::executor_type;
  /// Gets the error and the number of bytes.
  using finished = std::function<void(error_code, std::size_t)>;
  /// Gets the error and, if there is one, what to say of it.
  using secured = std::function<void(error_code, const std::string&)>;

  client_stream() = default;
  client_stream(const client_stream&) = delete;
  client_stream& operator=(const client_stream&) = delete;
  virtual ~client_stream() = default;

  /// The TCP connection below.
  virtual boost::beast::tcp_stream& connection() = 0;
  /// Makes a new connection secure, and then calls `then`. Plain TCP calls it at once.
  virtual void secure(const server_url& url, secured then) = 0;

  executor_type get_executor() { return connection().get_executor(); }

  template <class Buffers, class Handler>
  auto async_read_some(const Buffers& buffers, Handler&& handler) {
    return boost::asio::async_initiate<Handler, void(error_code, std::size_t)>(
        [this](auto then, std::vector<boost::asio::mutable_buffer> into) {
          read_some(std::move(into), copyable(std::move(then)));
        },
        handler, collected<boost::asio::mutable_buffer>(buffers));
  }

  template <class Buffers, class Handler>
  auto async_write_some(const Buffers& buffers, Handler&& handler) {
    return boost::asio::async_initiate<Handler, void(error_code, std::size_t)>(
        [this](auto then, std::vector<boost::asio::const_buffer> from) {
          write_some(std::move(from), copyable(std::move(then)));
        },
        handler, collected<boost::asio::const_buffer>(buffers));
  }

 private:
  virtual void read_some(std::vector<boost::asio::mutable_buffer> into, finished then) = 0;
  virtual void write_some(std::vector<boost::asio::const_buffer> from, finished then) = 0;

  template <class Buffer, class Buffers>
  static std::vector<Buffer> collected(const Buffers& buffers) {
    return {boost::asio::buffer_sequence_begin(buffers), boost::asio::buffer_sequence_end(buffers)};
  }
  template <class Handler>
  static finished copyable(Handler handler) {
    return [kept = std::make_shared<Handler>(std::move(handler))](error_code error, std::size_t n) {
      // The handler is moved out, as it may end the last owner of this stream.
      auto once = std::move(*kept);
      once(error, n);
    };
  }
};

/// A stream that is not connected yet: plain, or with TLS if `trust` is given.
std::unique_ptr<client_stream> make_client_stream(boost::asio::io_context& context,
                                                  tls_trust* trust);

// How Beast closes the connection of a WebSocket: without a handshake, which would wait for a
// server that has just sent invalid data.

template <class Handler>
void async_teardown(boost::beast::role_type, client_stream& stream, Handler&& handler) {
  stream.connection().close();
  boost::asio::post(
      stream.get_executor(),
      boost::beast::bind_front_handler(std::forward<Handler>(handler), boost::beast::error_code()));
}
inline void teardown(boost::beast::role_type, client_stream& stream,
                     boost::beast::error_code& error) {
  stream.connection().close();
  error = {};
}
inline void beast_close_socket(client_stream& stream) { stream.connection().close(); }

}  // namespace troupe::openenv
