#pragma once
// Certificates, keys and lists of revoked certificates in PEM. For .cpp files alone.

#include <string>
#include <vector>

#include "runtime/cluster/certificates.hpp"
#include "runtime/cluster/openssl_handles.hpp"

namespace troupe::detail {

/// The first certificate of a text; null where there is none.
certificate_ptr certificate_in(const std::string& pem);
/// All of them, in order; empty where one can't be read.
certificates_ptr certificates_in(const std::string& pem);
/// A private key without a passphrase; null where there is none.
key_ptr key_in(const std::string& pem);

/// The lists of revoked certificates; empty where one can't be read.
std::vector<revocation_list_ptr> revocation_lists_in(const std::string& pem);

certificate_facts facts_of(const X509& certificate);

}  // namespace troupe::detail
