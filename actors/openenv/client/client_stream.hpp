#pragma once
// Internal to this folder.

#include <boost/asio/post.hpp>
#include <boost/beast/core/bind_handler.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/websocket/teardown.hpp>

namespace troupe::openenv {

/// A TCP stream whose WebSocket is never torn down politely: that would wait for a server which
/// has just been found to talk nonsense.
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
