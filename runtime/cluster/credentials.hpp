#pragma once
// Who a process is to others, and who others are to it: certificates of one private authority.

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>

#include "runtime/cluster/certificates.hpp"
#include "runtime/cluster/refusal.hpp"

namespace troupe {
class metrics_registry;
}

namespace troupe::detail {

/// What a peer's certificate says of it. Empty without certificates.
struct proven_identity {
  bool secure = false;
  std::string name;  ///< '*' stands for any text.
  std::string role;
  std::string certificate;  ///< In PEM.
};

/// The files of a process: ca.pem, cert.pem and key.pem in one directory, as `troupe certs add`
/// makes them, and crl.pem, where `troupe certs revoke` has made one.
struct credentials {
  std::filesystem::path directory;
  certificate_facts own;

  std::filesystem::path authority_file() const { return directory / "ca.pem"; }
  std::filesystem::path certificate_file() const { return directory / "cert.pem"; }
  std::filesystem::path key_file() const { return directory / "key.pem"; }
  std::filesystem::path revocations_file() const { return directory / "crl.pem"; }
};

/// Throws std::runtime_error naming the file for one that is missing, unreadable or no PEM, a key
/// that is not the certificate's, and a certificate that the authority has not signed or has
/// revoked, that is not valid now, or whose role is not `role`.
credentials load_credentials(const std::filesystem::path& directory, const std::string& role);

/// As troupe_tls_not_after_timestamp_seconds.
void show_expiry(const credentials& own, metrics_registry& in);

// Both read ca.pem and crl.pem anew, so that changed ones need no restart, and throw
// std::runtime_error naming the one that will not do: then nobody is believed.

/// What `chain`, a peer's certificate in PEM with those between it and the authority, proves at
/// `now` to the owner of `own`.
std::variant<proven_identity, join_refusal> verify_chain(const std::string& chain,
                                                         const credentials& own,
                                                         std::chrono::system_clock::time_point now);
/// Whether the authority has revoked a certificate in PEM, which has been verified.
std::optional<join_refusal> revocation(const std::string& certificate, const credentials& own);

/// What a certificate that has been verified says.
proven_identity identity_in(const std::string& certificate);

// Why a peer that says `role`, or `name`, is not the one that its certificate proves; empty where
// it is, or where there are no certificates.
std::optional<join_refusal> role_contradiction(const proven_identity& proven,
                                               const std::string& role);
std::optional<join_refusal> name_contradiction(const proven_identity& proven,
                                               const std::string& name);

/// Whether text is what a pattern means, in which '*' stands for any text.
bool matches(std::string_view pattern, std::string_view text);

/// The text of a file. Throws std::runtime_error naming it.
std::string read_whole_file(const std::filesystem::path& path);

}  // namespace troupe::detail
