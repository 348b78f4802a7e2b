#pragma once
// Certificates that their authority has taken back. For .cpp files alone.

#include <filesystem>
#include <string>
#include <vector>

#include "runtime/cluster/openssl_handles.hpp"

namespace troupe::detail {

/// The lists of revoked certificates in a PEM file; none where there is no file. Throws
/// std::runtime_error naming it where it can't be read, is malformed, or has a list that none of
/// the certificates in `authority`, PEM, has signed. How old a list is does not matter.
std::vector<revocation_list_ptr> read_revocations(const std::filesystem::path& file,
                                                  const std::string& authority);

bool is_revoked(X509& certificate, const std::vector<revocation_list_ptr>& lists);

}  // namespace troupe::detail
