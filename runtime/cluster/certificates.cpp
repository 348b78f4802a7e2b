#include "runtime/cluster/certificates.hpp"

#include <arpa/inet.h>
#include <openssl/pem.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <stdexcept>
#include <system_error>

#include "runtime/base/file_refusal.hpp"
#include "runtime/base/new_file.hpp"
#include "runtime/cluster/certificate_text.hpp"
#include "runtime/cluster/openssl_handles.hpp"
#include "runtime/cluster/revocations.hpp"

namespace troupe {

namespace {

namespace fs = std::filesystem;
using namespace detail;

/// Certificates are valid from this time before now, because clocks differ.
constexpr std::chrono::minutes valid_before(5);
constexpr std::size_t name_max = 64;

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error("certificates: " + what + ": " + openssl_reason());
}

void require(bool ok, const std::string& what) {
  if (!ok) fail(what);
}

// ---- files --------------------------------------------------------------------------------------

template <class Write>
std::string pem_of(const Write& write) {
  const bio_ptr memory(BIO_new(BIO_s_mem()));
  require(memory && write(memory.get()) == 1, "cannot write PEM");
  char* text = nullptr;
  const auto size = BIO_get_mem_data(memory.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

std::string pem_of(X509* certificate) {
  return pem_of([&](BIO* to) { return PEM_write_bio_X509(to, certificate); });
}

std::string pem_of(X509_CRL* list) {
  return pem_of([&](BIO* to) { return PEM_write_bio_X509_CRL(to, list); });
}

std::string pem_of(EVP_PKEY* key) {
  return pem_of([&](BIO* to) {
    return PEM_write_bio_PKCS8PrivateKey(to, key, nullptr, nullptr, 0, nullptr, nullptr);
  });
}

/// Writes a new file, which replaces the old one when it is complete.
void write_file(const fs::path& path, const std::string& text, mode_t mode) {
  auto fresh = path;
  fresh += ".new";
  unlink(fresh.c_str());
  write_new_file(fresh, text, mode);
  fs::rename(fresh, path);
}

void refuse_existing(const fs::path& path, bool force) {
  if (force || !fs::exists(path)) return;
  throw std::runtime_error("certificates: " + path.string() +
                           " exists already; --force replaces it");
}

std::string read_file(const fs::path& path) {
  try {
    return read_regular_file(path, pem_bytes_max, file_kinds::regular_linked);
  } catch (const std::system_error& e) {
    throw std::runtime_error("certificates: cannot read " + path.string() + ": " +
                             reason_of(e, path));
  }
}

// ---- making -------------------------------------------------------------------------------------

key_ptr make_key() {
  key_ptr key(EVP_EC_gen("P-256"));
  require(key != nullptr, "cannot make a key");
  return key;
}

void add_extension(X509* to, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, to, nullptr, nullptr, 0);
  const extension_ptr made(X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
  require(made && X509_add_ext(to, made.get(), -1) == 1,
          "cannot add " + std::string(OBJ_nid2sn(kind)) + " " + value);
}

void set_random_serial(X509* of) {
  const bignum_ptr number(BN_new());
  require(number && BN_rand(number.get(), 127, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1 &&
              BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(of)),
          "cannot make a serial number");
}

/// Makes a certificate without its extensions.
certificate_ptr make_certificate(EVP_PKEY* key, const std::string& name,
                                 std::chrono::sys_seconds not_before,
                                 std::chrono::sys_seconds not_after) {
  certificate_ptr made(X509_new());
  require(made && X509_set_version(made.get(), X509_VERSION_3) == 1, "cannot make a certificate");
  set_random_serial(made.get());
  const auto put = [&](const ASN1_TIME* to, std::chrono::sys_seconds time) {
    require(ASN1_TIME_set(const_cast<ASN1_TIME*>(to), std::chrono::system_clock::to_time_t(time)),
            "cannot set a time");
  };
  put(X509_getm_notBefore(made.get()), not_before - valid_before);
  put(X509_getm_notAfter(made.get()), not_after);
  const auto* const text = reinterpret_cast<const unsigned char*>(name.data());
  require(X509_NAME_add_entry_by_txt(X509_get_subject_name(made.get()), "CN", MBSTRING_UTF8, text,
                                     static_cast<int>(name.size()), -1, 0) == 1 &&
              X509_set_pubkey(made.get(), key) == 1,
          "cannot name a certificate");
  return made;
}

void sign(X509* certificate, const X509* issuer, EVP_PKEY* key) {
  require(X509_set_issuer_name(certificate, X509_get_subject_name(issuer)) == 1 &&
              X509_sign(certificate, key, EVP_sha256()) != 0,
          "cannot sign a certificate");
}

std::chrono::sys_seconds now() {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

std::chrono::days checked(std::chrono::days valid_for) {
  if (valid_for >= std::chrono::days(1) && valid_for <= std::chrono::days(36500)) return valid_for;
  throw std::invalid_argument("certificates: days: expected 1 to 36500, got " +
                              std::to_string(valid_for.count()));
}

// ---- what was asked for -------------------------------------------------------------------------

bool is_address(const std::string& host) {
  std::array<unsigned char, 16> bytes;
  return inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 ||
         inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
}

bool is_plain(unsigned char c) { return c < 128 && (std::isalnum(c) || c == '-' || c == '.'); }

void check_name(const std::string& name) {
  const auto in_name = [](unsigned char c) { return is_plain(c) || c == '_' || c == '*'; };
  if (name.empty() || name.size() > name_max || !std::ranges::all_of(name, in_name) ||
      name.starts_with('.')) {
    throw std::invalid_argument(
        "certificates: name: expected 1 to 64 letters, digits, '-', '_', "
        "'.' and '*', got \"" +
        name + "\"");
  }
}

void check(const certificate_request& request) {
  check_name(request.name);
  if (request.role != "node" && request.role != "controller") {
    throw std::invalid_argument("certificates: role: expected node or controller, got \"" +
                                request.role + "\"");
  }
  for (const auto& host : request.hosts) {
    const auto first = host.starts_with("*.") ? 2 : 0;
    const auto rest = host.substr(first);
    const bool is_name = !rest.empty() && rest.size() < 254 && std::ranges::all_of(rest, is_plain);
    if (is_name || is_address(host)) continue;
    throw std::invalid_argument("certificates: host: expected a DNS name or an IP address, got \"" +
                                host + "\"");
  }
  if (request.role == "controller" && request.hosts.empty()) {
    throw std::invalid_argument(
        "certificates: host: expected one for a controller at least: nodes "
        "check the name or address that they join at");
  }
}

std::string alternative_names(const certificate_request& request) {
  std::string names = "URI:" + std::string(role_scheme) + request.role;
  for (const auto& host : request.hosts) names += (is_address(host) ? ",IP:" : ",DNS:") + host;
  return names;
}

std::string folder_of(const std::string& name) {
  std::string folder;
  for (const char c : name) folder += c == '*' ? std::string("any") : std::string(1, c);
  return folder;
}

// ---- the authority ------------------------------------------------------------------------------

struct authority {
  std::string text;  ///< The authority's certificate in PEM.
  certificate_ptr certificate;
  key_ptr key;
};

authority read_authority(const fs::path& directory) {
  const auto file = directory / "ca.pem";
  const auto key_file = directory / "ca.key.pem";
  authority read{.text = read_file(file), .certificate = nullptr, .key = nullptr};
  read.certificate = certificate_in(read.text);
  require(read.certificate != nullptr, file.string() + ": expected a certificate");
  read.key = key_in(read_file(key_file));
  require(read.key != nullptr, key_file.string() + ": expected a private key");
  require(X509_check_private_key(read.certificate.get(), read.key.get()) == 1,
          key_file.string() + " is not the key of " + file.string());
  return read;
}

/// Returns the cert.pem of each process below the authority's folder, ordered by path.
std::vector<fs::path> certificate_files(const fs::path& directory) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(directory)) {
    const auto file = entry.path() / "cert.pem";
    if (fs::exists(file)) files.push_back(file);
  }
  std::ranges::sort(files);
  return files;
}

// ---- what it has revoked ------------------------------------------------------------------------

asn1_time_ptr asn1_time(std::chrono::sys_seconds time) {
  asn1_time_ptr made(ASN1_TIME_set(nullptr, std::chrono::system_clock::to_time_t(time)));
  require(made != nullptr, "cannot set a time");
  return made;
}

revocation_list_ptr make_list(const authority& by) {
  revocation_list_ptr made(X509_CRL_new());
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, by.certificate.get(), nullptr, nullptr, made.get(), 0);
  const extension_ptr issuer(
      X509V3_EXT_conf_nid(nullptr, &context, NID_authority_key_identifier, "keyid:always"));
  require(made && issuer && X509_CRL_set_version(made.get(), X509_CRL_VERSION_2) == 1 &&
              X509_CRL_set_issuer_name(made.get(), X509_get_subject_name(by.certificate.get())) &&
              X509_CRL_add_ext(made.get(), issuer.get(), -1) == 1,
          "cannot make a list of revoked certificates");
  return made;
}

/// Returns the list in `file`, or an empty list.
revocation_list_ptr read_or_make_list(const fs::path& file, const authority& by) {
  auto lists = read_revocations(file, by.text);
  if (lists.empty()) return make_list(by);
  if (lists.size() == 1) return std::move(lists[0]);
  throw std::runtime_error("certificates: " + file.string() + ": expected one list, got " +
                           std::to_string(lists.size()));
}

void add_revoked(X509_CRL& list, X509& certificate) {
  revoked_ptr entry(X509_REVOKED_new());
  const auto when = asn1_time(now());
  require(entry &&
              X509_REVOKED_set_serialNumber(entry.get(), X509_get_serialNumber(&certificate)) &&
              X509_REVOKED_set_revocationDate(entry.get(), when.get()) == 1 &&
              X509_CRL_add0_revoked(&list, entry.get()) == 1,
          "cannot revoke a certificate");
  (void)entry.release();  // The list owns the entry now.
}

void count_up(X509_CRL& list) {
  const asn1_integer_ptr before(
      static_cast<ASN1_INTEGER*>(X509_CRL_get_ext_d2i(&list, NID_crl_number, nullptr, nullptr)));
  const bignum_ptr number(before ? ASN1_INTEGER_to_BN(before.get(), nullptr) : BN_new());
  require(number && BN_add_word(number.get(), 1) == 1, "cannot count up");
  const asn1_integer_ptr after(BN_to_ASN1_INTEGER(number.get(), nullptr));
  require(after &&
              X509_CRL_add1_ext_i2d(&list, NID_crl_number, after.get(), 0, X509V3_ADD_REPLACE) == 1,
          "cannot number a list of revoked certificates");
}

void sign(X509_CRL& list, const authority& by) {
  const auto from = asn1_time(now() - valid_before);
  const auto until = asn1_time(facts_of(*by.certificate).not_after);
  require(X509_CRL_set1_lastUpdate(&list, from.get()) == 1 &&
              X509_CRL_set1_nextUpdate(&list, until.get()) == 1 && X509_CRL_sort(&list) == 1 &&
              X509_CRL_sign(&list, by.key.get(), EVP_sha256()) != 0,
          "cannot sign a list of revoked certificates");
}

/// Returns the certificates in `file` that the authority has signed.
std::vector<certificate_ptr> signed_certificates(const fs::path& file, const authority& by) {
  std::vector<certificate_ptr> found;
  const auto all = certificates_in(read_file(file));
  for (int i = 0; i < sk_X509_num(all.get()); ++i) {
    X509* const each = sk_X509_value(all.get(), i);
    const bool ours = X509_check_ca(each) == 0 && X509_verify(each, by.key.get()) == 1;
    if (ours && X509_up_ref(each) == 1) found.emplace_back(each);
  }
  ERR_clear_error();
  if (!found.empty()) return found;
  throw std::runtime_error("certificates: " + file.string() +
                           ": expected a certificate that this authority has signed");
}

/// Copies the list, so that a process that is new or made again refuses what the others refuse.
void copy_list(const fs::path& directory, const fs::path& folder) {
  if (fs::exists(directory / "crl.pem")) {
    write_file(folder / "crl.pem", read_file(directory / "crl.pem"), 0644);
  } else {
    fs::remove(folder / "crl.pem");
  }
}

}  // namespace

void make_authority(const fs::path& directory, std::chrono::days valid_for, bool force) {
  const auto not_after = now() + checked(valid_for);
  const auto certificate_file = directory / "ca.pem";
  const auto key_file = directory / "ca.key.pem";
  refuse_existing(certificate_file, force);
  refuse_existing(key_file, force);
  fs::create_directories(directory);

  const auto key = make_key();
  const auto made = make_certificate(key.get(), "troupe authority", now(), not_after);
  add_extension(made.get(), made.get(), NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
  add_extension(made.get(), made.get(), NID_key_usage, "critical,keyCertSign,cRLSign");
  add_extension(made.get(), made.get(), NID_subject_key_identifier, "hash");
  sign(made.get(), made.get(), key.get());
  write_file(key_file, pem_of(key.get()), 0600);
  write_file(certificate_file, pem_of(made.get()), 0644);
  fs::remove(directory / "crl.pem");
}

fs::path issue_certificate(const fs::path& directory, const certificate_request& request,
                           bool force) {
  check(request);
  const auto not_before = request.valid_from.value_or(now());
  const auto not_after = not_before + checked(request.valid_for);
  const auto folder = directory / folder_of(request.name);
  refuse_existing(folder / "cert.pem", force);
  refuse_existing(folder / "key.pem", force);

  const auto by = read_authority(directory);
  const auto authority_end = facts_of(*by.certificate).not_after;
  if (authority_end <= now()) {
    throw std::runtime_error("certificates: " + (directory / "ca.pem").string() + " has expired");
  }

  const auto key = make_key();
  const auto made =
      make_certificate(key.get(), request.name, not_before, std::min(not_after, authority_end));
  add_extension(made.get(), by.certificate.get(), NID_basic_constraints, "critical,CA:FALSE");
  add_extension(made.get(), by.certificate.get(), NID_key_usage, "critical,digitalSignature");
  add_extension(made.get(), by.certificate.get(), NID_ext_key_usage, "serverAuth,clientAuth");
  add_extension(made.get(), by.certificate.get(), NID_subject_alt_name, alternative_names(request));
  add_extension(made.get(), by.certificate.get(), NID_subject_key_identifier, "hash");
  add_extension(made.get(), by.certificate.get(), NID_authority_key_identifier, "keyid:always");
  sign(made.get(), by.certificate.get(), by.key.get());
  fs::create_directories(folder);
  write_file(folder / "key.pem", pem_of(key.get()), 0600);
  write_file(folder / "cert.pem", pem_of(made.get()), 0644);
  write_file(folder / "ca.pem", pem_of(by.certificate.get()), 0644);
  copy_list(directory, folder);
  return folder;
}

revocation_files revoke_certificate(const fs::path& directory, const std::string& name) {
  check_name(name);
  const auto by = read_authority(directory);
  revocation_files files{.list = directory / "crl.pem", .copies = {}};
  const auto list = read_or_make_list(files.list, by);
  for (const auto& each : signed_certificates(directory / folder_of(name) / "cert.pem", by)) {
    X509_REVOKED* entry = nullptr;
    if (X509_CRL_get0_by_cert(list.get(), &entry, each.get()) == 0) add_revoked(*list, *each);
  }
  count_up(*list);
  sign(*list, by);
  write_file(files.list, pem_of(list.get()), 0644);
  for (const auto& file : certificate_files(directory)) {
    const auto folder = file.parent_path();
    copy_list(directory, folder);
    files.copies.push_back(folder / "crl.pem");
  }
  return files;
}

certificate_facts read_certificate(const fs::path& file) {
  const auto text = read_file(file);
  const auto certificate = certificate_in(text);
  require(certificate != nullptr, file.string() + ": expected a certificate");
  return facts_of(*certificate);
}

std::vector<std::pair<fs::path, certificate_facts>> list_certificates(const fs::path& directory) {
  std::vector<std::pair<fs::path, certificate_facts>> found;
  const auto authority = directory / "ca.pem";
  found.emplace_back(authority, read_certificate(authority));
  for (const auto& file : certificate_files(directory)) {
    found.emplace_back(file, read_certificate(file));
  }
  return found;
}

}  // namespace troupe
