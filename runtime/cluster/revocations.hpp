#pragma once
// Reads lists of revoked certificates. Only .cpp files include this header.

#include <filesystem>
#include <string>
#include <vector>

#include "runtime/cluster/openssl_handles.hpp"

namespace troupe::detail {

/// Returns the lists of revoked certificates in a PEM file; empty if there is no file. Throws
/// a std::runtime_error that names the file if it can't be read, is malformed, or has a list that
/// no certificate in `authority` (PEM) has signed. The age of a list doesn't matter.
std::vector<revocation_list_ptr> read_revocations(const std::filesystem::path& file,
                                                  const std::string& authority);

bool is_revoked(X509& certificate, const std::vector<revocation_list_ptr>& lists);

}  // namespace troupe::detail
