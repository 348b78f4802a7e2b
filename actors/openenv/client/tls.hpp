#pragma once
// Internal to this folder: https and wss.

#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream_base.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <memory>
#include <string>
#include <utility>

#include "actors/openenv/client/client_stream.hpp"
#include "actors/openenv/protocol/url.hpp"

namespace troupe::openenv {

/// Who may vouch for a server.
struct tls_trust {
  /// The authorities of a PEM file; empty: those of the system. Throws std::invalid_argument naming
  /// the file.
  explicit tls_trust(const std::string& file);

  boost::asio::ssl::context context;
};

/// A client_stream beneath TLS.
class tls_stream : public boost::beast::ssl_stream<client_stream> {
 public:
  using boost::beast::ssl_stream<client_stream>::ssl_stream;

  /// From now on the server must have a certificate for that name or address.
  void expect(const std::string& host);
  /// Why the certificate was refused; empty: it was not.
  std::string refusal() const;
};

template <class Handler>
void async_teardown(boost::beast::role_type role, tls_stream& stream, Handler&& handler) {
  async_teardown(role, boost::beast::get_lowest_layer(stream), std::forward<Handler>(handler));
}

inline void teardown(boost::beast::role_type role, tls_stream& stream,
                     boost::beast::error_code& error) {
  teardown(role, boost::beast::get_lowest_layer(stream), error);
}

/// What comes between a connection and its first message: `then(error_code, why)`.
template <class Then>
void secure(client_stream&, const server_url&, Then then) {
  then(boost::beast::error_code(), std::string());
}
template <class Then>
void secure(tls_stream& stream, const server_url& url, Then then) {
  stream.expect(url.host);
  stream.async_handshake(
      boost::asio::ssl::stream_base::client,
      [&stream, then = std::move(then)](boost::beast::error_code error) {
        const auto refusal = stream.refusal();
        then(error, "TLS: " + error.message() + (refusal.empty() ? "" : ": " + refusal));
      });
}

}  // namespace troupe::openenv
