#pragma once
// Internal to this folder: the TCP stream below the client's WebSockets and HTTP requests.

#include <boost/asio/post.hpp>
#include <boost/beast/core/bind_handler.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/websocket/teardown.hpp>

namespace troupe::openenv {

/// A TCP stream whose WebSocket is closed without a handshake. A handshake would wait for a server
/// that has just sent invalid data.
class client_stream : public boost::beast::tcp_stream {
 public:
  using boost::beast::tcp_stream::tcp_stream;
};

template <class Handler>
void async_teardown(boost::beast::role_type, client_stream& stream, Handler&& handler) {
  stream.close();
  boost::asio::post(
      stream.get_executor(),
      boost::beast::bind_front_handler(std::forward<Handler>(handler), boost::beast::error_code()));
}

inline void teardown(boost::beast::role_type, client_stream& stream,
                     boost::beast::error_code& error) {
  stream.close();
  error = {};
}

}  // namespace troupe::openenv
