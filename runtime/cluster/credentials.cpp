#include "runtime/cluster/credentials.hpp"

#include <stdexcept>
#include <system_error>

#include "runtime/base/file_refusal.hpp"
#include "runtime/base/utf8.hpp"
#include "runtime/cluster/certificate_text.hpp"
#include "runtime/cluster/revocations.hpp"
#include "runtime/metrics/registry.hpp"

namespace troupe::detail {

namespace {

/// The bytes of a name that a message shows.
constexpr std::size_t name_bytes_max = 100;

[[noreturn]] void fail(const std::filesystem::path& file, const std::string& what) {
  throw std::runtime_error(file.string() + ": " + what);
}

std::string day_of(std::chrono::sys_seconds time) {
  const auto t = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  gmtime_r(&t, &parts);
  char text[32];
  const auto size = std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts);
  return {text, size};
}

std::string why_not_now(const certificate_facts& facts, std::chrono::system_clock::time_point now) {
  if (now >= facts.not_after) return "expired at " + day_of(facts.not_after);
  if (now < facts.not_before) return "is not valid before " + day_of(facts.not_before);
  return {};
}

const char* reason_of(int error) {
  switch (error) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "expired";
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
    case X509_V_ERR_SUBJECT_ISSUER_MISMATCH:
    case X509_V_ERR_AKID_SKID_MISMATCH:
      return "other_authority";
    default:
      return "certificate";
  }
}

/// Describes a certificate for a message. The name is shortened and made printable, because anybody
/// may have written it.
std::string title_of(const X509& certificate) {
  return "the certificate of \"" + printable(facts_of(certificate).name, name_bytes_max) + '"';
}

std::optional<join_refusal> revocation(X509& certificate, const std::string& authority,
                                       const credentials& own) {
  if (!is_revoked(certificate, read_revocations(own.revocations_file(), authority))) return {};
  return join_refusal{"revoked", title_of(certificate) + " has been revoked"};
}

}  // namespace

std::string read_whole_file(const std::filesystem::path& path) {
  std::string why;
  try {
    return read_regular_file(path, pem_bytes_max, file_kinds::regular_linked);
  } catch (const std::system_error& e) {
    why = reason_of(e, path);
  }
  fail(path, "cannot read it: " + why + "; `troupe certs add` makes ca.pem, cert.pem and key.pem");
}

std::variant<proven_identity, join_refusal> verify_chain(const std::string& chain,
                                                         const credentials& own,
                                                         std::chrono::system_clock::time_point now,
                                                         shown_by side) {
  if (chain.empty()) return join_refusal{"no_certificate", "expected a certificate, got none"};
  const auto shown = certificates_in(chain);
  if (sk_X509_num(shown.get()) == 0)
    return join_refusal{"certificate", "the certificate is malformed"};
  X509& theirs = *sk_X509_value(shown.get(), 0);

  const auto authority = read_whole_file(own.authority_file());
  const store_ptr store(X509_STORE_new());
  const auto trusted = certificates_in(authority);
  for (int i = 0; i < sk_X509_num(trusted.get()); ++i) {
    X509_STORE_add_cert(store.get(), sk_X509_value(trusted.get(), i));
  }
  const store_context_ptr check(X509_STORE_CTX_new());
  if (!check || X509_STORE_CTX_init(check.get(), store.get(), &theirs, shown.get()) != 1) {
    return join_refusal{"certificate", "the certificate can't be checked: " + openssl_reason()};
  }
  X509_STORE_CTX_set_purpose(
      check.get(), side == shown_by::caller ? X509_PURPOSE_SSL_CLIENT : X509_PURPOSE_SSL_SERVER);
  X509_STORE_CTX_set_time(check.get(), 0, std::chrono::system_clock::to_time_t(now));
  const bool good = X509_verify_cert(check.get()) == 1;
  ERR_clear_error();
  if (!good) {
    const int error = X509_STORE_CTX_get_error(check.get());
    return join_refusal{reason_of(error),
                        title_of(theirs) + ": " + X509_verify_cert_error_string(error)};
  }
  if (auto no = revocation(theirs, authority, own)) return *no;
  return identity_in(chain);
}

std::optional<join_refusal> revocation(const std::string& certificate, const credentials& own) {
  const auto read = certificate_in(certificate);
  if (!read) return join_refusal{"certificate", "the certificate is malformed"};
  return revocation(*read, read_whole_file(own.authority_file()), own);
}

proven_identity identity_in(const std::string& certificate) {
  const auto read = certificate_in(certificate);
  if (!read) return {.secure = true};
  const auto facts = facts_of(*read);
  return {.secure = true, .name = facts.name, .role = facts.role, .certificate = certificate};
}

credentials load_credentials(const std::filesystem::path& directory, const std::string& role) {
  credentials loaded{.directory = directory};
  const auto authority = read_whole_file(loaded.authority_file());
  const auto chain = read_whole_file(loaded.certificate_file());
  const auto key_text = read_whole_file(loaded.key_file());
  if (!certificate_in(authority)) fail(loaded.authority_file(), "expected a certificate in PEM");
  const auto own = certificate_in(chain);
  if (!own) fail(loaded.certificate_file(), "expected a certificate in PEM");
  const auto key = key_in(key_text);
  if (!key) fail(loaded.key_file(), "expected a private key in PEM without a passphrase");
  if (X509_check_private_key(own.get(), key.get()) != 1) {
    ERR_clear_error();
    fail(loaded.key_file(), "is not the key of " + loaded.certificate_file().string());
  }
  loaded.own = facts_of(*own);
  const auto now = std::chrono::system_clock::now();
  if (const auto why = why_not_now(loaded.own, now); !why.empty()) {
    fail(loaded.certificate_file(), why);
  }
  const auto authority_facts = facts_of(*certificate_in(authority));
  if (const auto why = why_not_now(authority_facts, now); !why.empty()) {
    fail(loaded.authority_file(), why);
  }
  const auto verified = verify_chain(chain, loaded, now);
  if (const auto* no = std::get_if<join_refusal>(&verified)) {
    fail(loaded.certificate_file(), no->text + "; expected a valid one of the authority of " +
                                        loaded.authority_file().string());
  }
  if (loaded.own.role != role) {
    fail(loaded.certificate_file(),
         "expected the role " + role + ", got \"" + loaded.own.role + "\"");
  }
  return loaded;
}

void show_expiry(const credentials& own, metrics_registry& in) {
  in.gauge("troupe_tls_not_after_timestamp_seconds",
           "When the certificate of this process expires, in seconds since 1970.")
      .set(static_cast<double>(own.own.not_after.time_since_epoch().count()));
}

std::optional<join_refusal> role_contradiction(const proven_identity& proven,
                                               const std::string& role) {
  if (!proven.secure || proven.role == role) return {};
  return join_refusal{
      "role", "expected the certificate of a " + role + ", got that of a \"" + proven.role + "\""};
}

std::optional<join_refusal> name_contradiction(const proven_identity& proven,
                                               const std::string& name) {
  if (!proven.secure || matches(proven.name, name)) return {};
  return join_refusal{
      "name", "expected the certificate of " + name + ", got that of \"" + proven.name + "\""};
}

std::optional<join_refusal> host_contradiction(const std::string& certificate,
                                               const std::string& host) {
  const auto read = certificate_in(certificate);
  if (!read) return join_refusal{"certificate", "the certificate is malformed"};
  // The first function says -2 where the text is no address.
  const int address = X509_check_ip_asc(read.get(), host.c_str(), 0);
  if (address == 1 || X509_check_host(read.get(), host.data(), host.size(),
                                      X509_CHECK_FLAG_NEVER_CHECK_SUBJECT, nullptr) == 1) {
    return {};
  }
  std::string hosts;
  for (const auto& each : facts_of(*read).hosts) hosts += (hosts.empty() ? "" : ", ") + each;
  return join_refusal{"certificate", "expected the certificate of a controller at " + host +
                                         ", got one for " +
                                         (hosts.empty() ? "no host" : printable(hosts, 200))};
}

bool matches(std::string_view pattern, std::string_view text) {
  // The position of the last '*', and the text that it has taken so far.
  std::size_t p = 0, t = 0, star = std::string_view::npos, taken = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p, ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++taken;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace troupe::detail
