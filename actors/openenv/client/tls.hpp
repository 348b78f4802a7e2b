#pragma once
// Internal to this folder: the certificate authorities that the client trusts.

#include <boost/asio/ssl/context.hpp>
#include <string>

namespace troupe::openenv {

/// The certificate authorities that are trusted.
struct tls_trust {
  /// Loads the authorities of a PEM file; an empty name means those of the system. Throws
  /// std::invalid_argument, which names the file.
  explicit tls_trust(const std::string& file);

  boost::asio::ssl::context context;
};

}  // namespace troupe::openenv
