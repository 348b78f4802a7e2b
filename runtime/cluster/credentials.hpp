#pragma once
// Identifies processes to each other with certificates of one private authority.

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

/// The identity in a peer's certificate. Empty if there are no certificates.
struct proven_identity {
  bool secure = false;
  std::string name;  ///< The peer's name; '*' stands for any text.
  std::string role;
  std::string certificate;  ///< The certificate in PEM.
};

/// The files of a process: ca.pem, cert.pem and key.pem in one directory, as `troupe certs add`
/// makes them, and crl.pem once `troupe certs revoke` has made one.
struct credentials {
  std::filesystem::path directory;
  certificate_facts own;

  std::filesystem::path authority_file() const { return directory / "ca.pem"; }
  std::filesystem::path certificate_file() const { return directory / "cert.pem"; }
  std::filesystem::path key_file() const { return directory / "key.pem"; }
  std::filesystem::path revocations_file() const { return directory / "crl.pem"; }
};

/// Loads the files of a process. Throws a std::runtime_error that names the file if it is missing,
/// unreadable or not PEM, if the key isn't the certificate's, or if the certificate isn't signed by
/// the authority, is revoked, isn't valid now or has another role than `role`.
credentials load_credentials(const std::filesystem::path& directory, const std::string& role);

/// Exports the expiry as the metric troupe_tls_not_after_timestamp_seconds.
void show_expiry(const credentials& own, metrics_registry& in);

// Both functions read ca.pem and crl.pem again, so changed files need no restart. They throw
// std::runtime_error that names a file that is unusable; then no peer is accepted.

/// The side of a connection that shows a certificate.
enum class shown_by { caller, listener };

/// Verifies a peer's certificate. `chain` holds it in PEM, with the certificates between it and the
/// authority. Returns the identity that it proves at `now` to the owner of `own`, or the refusal.
std::variant<proven_identity, join_refusal> verify_chain(const std::string& chain,
                                                         const credentials& own,
                                                         std::chrono::system_clock::time_point now,
                                                         shown_by side = shown_by::caller);
/// Returns a refusal if the authority has revoked a certificate (PEM) that was verified before.
std::optional<join_refusal> revocation(const std::string& certificate, const credentials& own);

/// Reads the identity in a verified certificate.
proven_identity identity_in(const std::string& certificate);

// These return why a peer that claims `role` or `name` isn't the one that its certificate proves;
// empty if it is, or if there are no certificates.
std::optional<join_refusal> role_contradiction(const proven_identity& proven,
                                               const std::string& role);
std::optional<join_refusal> name_contradiction(const proven_identity& proven,
                                               const std::string& name);
/// Returns a refusal if a verified certificate (PEM) isn't for `host`, a DNS name or an address.
std::optional<join_refusal> host_contradiction(const std::string& certificate,
                                               const std::string& host);

/// True if `text` matches a pattern in which '*' stands for any text.
bool matches(std::string_view pattern, std::string_view text);

/// Reads the text of a file. Throws a std::runtime_error that names the file.
std::string read_whole_file(const std::filesystem::path& path);

}  // namespace troupe::detail
