#include "actors/openenv/client/tls.hpp"

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

}  // namespace troupe::openenv
