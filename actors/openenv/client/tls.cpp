#include "actors/openenv/client/tls.hpp"

#include <fcntl.h>

#include <stdexcept>
#include <system_error>

#include "runtime/base/file_refusal.hpp"

namespace troupe::openenv {

namespace ssl = boost::asio::ssl;

tls_trust::tls_trust(const std::string& file) : context(ssl::context::tls_client) {
  context.set_verify_mode(ssl::verify_peer);
  boost::system::error_code error;
  const auto refuse = [&](const std::string& why) {
    return std::invalid_argument(
        "openenv: authorities: expected a file of certificates in PEM, got " +
        (file.empty() ? "the system's" : '"' + file + '"') + ": " + why);
  };
  if (file.empty()) {
    context.set_default_verify_paths(error);
  } else {
    try {
      // OpenSSL would wait for the writer of a FIFO.
      troupe::detail::open_file(file, O_RDONLY, troupe::detail::file_kinds::regular_linked);
    } catch (const std::system_error& e) {
      throw refuse(troupe::detail::reason_of(e, file));
    }
    context.load_verify_file(file, error);
  }
  if (error) throw refuse(error.message());
}

}  // namespace troupe::openenv
