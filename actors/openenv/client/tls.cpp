#include "actors/openenv/client/tls.hpp"

#include <boost/asio/ip/address.hpp>
#include <stdexcept>

namespace troupe::openenv {

namespace ssl = boost::asio::ssl;

tls_trust::tls_trust(const std::string& file) : context(ssl::context::tls_client) {
  context.set_verify_mode(ssl::verify_peer);
  boost::system::error_code error;
  if (file.empty())
    context.set_default_verify_paths(error);
  else
    context.load_verify_file(file, error);
  if (error)
    throw std::invalid_argument(
        "openenv: authorities: expected a file of certificates in PEM, got " +
        (file.empty() ? "the system's" : '"' + file + '"') + ": " + error.message());
}

void tls_stream::expect(const std::string& host) {
  boost::system::error_code none;
  boost::asio::ip::make_address(host, none);
  const bool is_name = none.failed();
  auto* const expected = SSL_get0_param(native_handle());
  if (is_name) {
    SSL_set_tlsext_host_name(native_handle(), host.c_str());  // must not be an address
    X509_VERIFY_PARAM_set1_host(expected, host.data(), host.size());
  } else {
    X509_VERIFY_PARAM_set1_ip_asc(expected, host.c_str());
  }
  set_verify_mode(ssl::verify_peer);
}

std::string tls_stream::refusal() const {
  auto* const handle = const_cast<tls_stream&>(*this).native_handle();
  const auto code = SSL_get_verify_result(handle);
  return code == X509_V_OK ? "" : X509_verify_cert_error_string(code);
}

}  // namespace troupe::openenv
