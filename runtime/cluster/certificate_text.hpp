#pragma once
// Reads certificates, keys and lists of revoked certificates in PEM. Only .cpp files include this
// header.

#include <string>
#include <vector>

#include "runtime/cluster/certificates.hpp"
#include "runtime/cluster/openssl_handles.hpp"

namespace troupe::detail {

/// The largest file of certificates, of a key or of revoked certificates that is read. A revoked
/// certificate takes about 50 bytes.
inline constexpr std::size_t pem_bytes_max = std::size_t{16} << 20;

/// Returns the first certificate of a text; null if there is none.
certificate_ptr certificate_in(const std::string& pem);
/// Returns the certificates of a text in order, up to the first that can't be read.
certificates_ptr certificates_in(const std::string& pem);
/// Returns a private key without a passphrase; null if there is none.
key_ptr key_in(const std::string& pem);

/// Returns the lists of revoked certificates; empty if one can't be read.
std::vector<revocation_list_ptr> revocation_lists_in(const std::string& pem);

certificate_facts facts_of(const X509& certificate);

}  // namespace troupe::detail
