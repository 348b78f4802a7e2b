#pragma once
// Internal to this folder: TLS for https and wss.

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

/// The certificate authorities that are trusted.
struct tls_trust {
  /// Loads the authorities of a PEM file; an empty name means those of the system. Throws
  /// std::invalid_argument, which names the file.
  explicit tls_trust(const std::string& file);

  boost::asio::ssl::context context;
};

/// TLS over a client_stream.
class tls_stream : public boost::beast::ssl_stream<client_stream> {
 public:
  using boost::beast::ssl_stream<client_stream>::ssl_stream;

  /// Requires the server to have a certificate for that name or address.
  void expect(const std::string& host);
  /// Returns why the certificate was refused, or an empty string if it was not.
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

/// Makes a new connection secure, and then calls `then(error_code, why)`. Does nothing on a plain
/// stream.
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
