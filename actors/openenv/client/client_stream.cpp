#include "actors/openenv/client/client_stream.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/beast/core/stream_traits.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>

#include "actors/openenv/client/tls.hpp"

namespace troupe::openenv {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace ssl = asio::ssl;

class plain_stream final : public client_stream {
 public:
  explicit plain_stream(asio::io_context& context) : stream_(context) {}

  beast::tcp_stream& connection() override { return stream_; }
  void secure(const server_url&, secured then) override { then({}, std::string()); }

 private:
  void read_some(std::vector<asio::mutable_buffer> into, finished then) override {
    stream_.async_read_some(into, std::move(then));
  }
  void write_some(std::vector<asio::const_buffer> from, finished then) override {
    stream_.async_write_some(from, std::move(then));
  }

  beast::tcp_stream stream_;
};

class tls_stream final : public client_stream {
 public:
  tls_stream(asio::io_context& context, tls_trust& trust) : stream_(context, trust.context) {}

  beast::tcp_stream& connection() override { return beast::get_lowest_layer(stream_); }

  void secure(const server_url& url, secured then) override {
    expect(url.host);
    stream_.async_handshake(
        ssl::stream_base::client, [this, then = std::move(then)](error_code error) {
          const auto refused = refusal();
          then(error, "TLS: " + error.message() + (refused.empty() ? "" : ": " + refused));
        });
  }

 private:
  void read_some(std::vector<asio::mutable_buffer> into, finished then) override {
    stream_.async_read_some(into, std::move(then));
  }
  void write_some(std::vector<asio::const_buffer> from, finished then) override {
    stream_.async_write_some(from, std::move(then));
  }

  /// Requires the server to have a certificate for that name or address.
  void expect(const std::string& host) {
    boost::system::error_code none;
    asio::ip::make_address(host, none);
    const bool is_name = none.failed();
    auto* const expected = SSL_get0_param(stream_.native_handle());
    if (is_name) {
      SSL_set_tlsext_host_name(stream_.native_handle(), host.c_str());  // must not be an address
      X509_VERIFY_PARAM_set1_host(expected, host.data(), host.size());
    } else {
      X509_VERIFY_PARAM_set1_ip_asc(expected, host.c_str());
    }
    stream_.set_verify_mode(ssl::verify_peer);
  }
  /// Returns why the certificate was refused, or an empty string if it was not.
  std::string refusal() {
    const auto code = SSL_get_verify_result(stream_.native_handle());
    return code == X509_V_OK ? "" : X509_verify_cert_error_string(code);
  }

  beast::ssl_stream<beast::tcp_stream> stream_;
};

}  // namespace

std::unique_ptr<client_stream> make_client_stream(asio::io_context& context, tls_trust* trust) {
  if (trust) return std::make_unique<tls_stream>(context, *trust);
  return std::make_unique<plain_stream>(context);
}

}  // namespace troupe::openenv
