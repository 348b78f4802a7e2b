#pragma once
// Makes a private certificate authority for one cluster, and the certificates of its processes. The
// program `troupe certs` uses it.
//
//   DIR/ca.pem          the authority's certificate
//   DIR/ca.key.pem      the authority's key; its owner can join as anybody, so it stays with
//                       the operator
//   DIR/crl.pem         the certificates that the authority has revoked, once there are any
//   DIR/NAME/ca.pem     the folder of one process, for --certs DIR/NAME
//   DIR/NAME/cert.pem
//   DIR/NAME/key.pem
//   DIR/NAME/crl.pem    the certificates to refuse although the authority has signed them

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// The contents of a certificate.
struct certificate_facts {
  std::string name;  ///< The common name, which is the peer's name; '*' stands for any part of it.
  /// "node", "controller" or "authority"; empty for a certificate without such a role.
  std::string role;
  std::vector<std::string> hosts;  ///< The DNS names and addresses where it may listen.
  std::chrono::sys_seconds not_before;
  std::chrono::sys_seconds not_after;
};

// Keys are on the curve P-256; files with a key have mode 0600. Without `force`, existing files
// stay and are named in a std::runtime_error. Other files that can't be written or read are named
// in a std::runtime_error as well. A bad name, role or host throws std::invalid_argument.

/// Makes the authority in `directory`, which is created. The revocations of an earlier authority
/// are forgotten.
void make_authority(const std::filesystem::path& directory, std::chrono::days valid_for,
                    bool force = false);

struct certificate_request {
  std::string name;  ///< 1 to 64 letters, digits, '-', '_' and '.'; '*' for any text.
  std::string role;  ///< "node" or "controller"
  /// The DNS names and IP addresses where others reach it. A controller needs at least one.
  std::vector<std::string> hosts;
  std::chrono::days valid_for{365};  ///< The lifetime, at most until the authority expires.
  /// The beginning of the lifetime; now if not set.
  std::optional<std::chrono::sys_seconds> valid_from;
};

/// Makes the folder of one process below that of the authority and returns its path. A '*' in the
/// name becomes "any" in the folder's name.
std::filesystem::path issue_certificate(const std::filesystem::path& directory,
                                        const certificate_request& request, bool force = false);

/// The files to copy to other machines after a revocation.
struct revocation_files {
  std::filesystem::path list;  ///< The file DIR/crl.pem.
  /// The copies in the folders of processes below it, ordered by path.
  std::vector<std::filesystem::path> copies;
};

/// Revokes the certificates in the folder of the process `name`. The list is valid as long as the
/// authority.
revocation_files revoke_certificate(const std::filesystem::path& directory,
                                    const std::string& name);

/// Reads the first certificate in a PEM file.
certificate_facts read_certificate(const std::filesystem::path& file);
/// Lists the certificates of the authority and of the folders below it, ordered by path.
std::vector<std::pair<std::filesystem::path, certificate_facts>> list_certificates(
    const std::filesystem::path& directory);

namespace detail {
/// The prefix of the role in a certificate, where it is a URI among the subject's alternative
/// names.
inline constexpr char role_scheme[] = "troupe://";
}  // namespace detail

}  // namespace troupe
