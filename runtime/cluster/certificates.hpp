#pragma once
// A private authority for one cluster, and the certificates of its processes.
//
//   DIR/ca.pem          the authority's certificate
//   DIR/ca.key.pem      its key: who has it can join as anybody, so it stays with the operator
//   DIR/crl.pem         the certificates that it has revoked, once there are any
//   DIR/NAME/ca.pem     what one process gets: --certs DIR/NAME
//   DIR/NAME/cert.pem
//   DIR/NAME/key.pem
//   DIR/NAME/crl.pem    who is refused, although the authority has signed its certificate

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// What a certificate says.
struct certificate_facts {
  std::string name;                ///< Its common name: of the peer, '*' for any part of it.
  std::string role;                ///< "node", "controller"; "authority"; empty: none of ours.
  std::vector<std::string> hosts;  ///< DNS names and addresses at which it may listen.
  std::chrono::sys_seconds not_before;
  std::chrono::sys_seconds not_after;
};

// Keys are on the curve P-256, files with a key in mode 0600. What is there already stays, and is
// named in a std::runtime_error, unless `force`. So is what else can't be written or read;
// std::invalid_argument is thrown for a bad name, role or host.

/// Makes the authority in `directory`, which it creates. What one before it has revoked is
/// forgotten.
void make_authority(const std::filesystem::path& directory, std::chrono::days valid_for,
                    bool force = false);

struct certificate_request {
  std::string name;  ///< 1 to 64 letters, digits, '-', '_' and '.'; '*' for any text.
  std::string role;  ///< "node" or "controller"
  /// DNS names and IP addresses under which others reach it. A controller needs one.
  std::vector<std::string> hosts;
  std::chrono::days valid_for{365};                    ///< At most as long as the authority.
  std::optional<std::chrono::sys_seconds> valid_from;  ///< Now, if not said.
};

/// Makes the folder of one process below that of the authority, and gives its path. A '*' of the
/// name is "any" in that of the folder.
std::filesystem::path issue_certificate(const std::filesystem::path& directory,
                                        const certificate_request& request, bool force = false);

/// What there is to be copied to other machines.
struct revocation_files {
  std::filesystem::path list;                 ///< DIR/crl.pem
  std::vector<std::filesystem::path> copies;  ///< In the folders of processes below it, by path.
};

/// Adds the certificates in the folder of the process `name` to those that are revoked. The list is
/// valid for as long as the authority.
revocation_files revoke_certificate(const std::filesystem::path& directory,
                                    const std::string& name);

/// Of the first certificate in a PEM file.
certificate_facts read_certificate(const std::filesystem::path& file);
/// The authority's and those of the folders below it, by path.
std::vector<std::pair<std::filesystem::path, certificate_facts>> list_certificates(
    const std::filesystem::path& directory);

namespace detail {
/// The role as it stands in a certificate: a URI of the subject's alternative names.
inline constexpr char role_scheme[] = "troupe://";
}  // namespace detail

}  // namespace troupe
