#include "runtime/cluster/certificates.hpp"

#include <arpa/inet.h>
#include <openssl/pem.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "runtime/cluster/certificate_text.hpp"
#include "runtime/cluster/new_file.hpp"
#include "runtime/cluster/openssl_handles.hpp"

namespace troupe {

namespace {

namespace fs = std::filesystem;
using namespace detail;

/// For clocks that differ.
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

std::string pem_of(EVP_PKEY* key) {
  return pem_of([&](BIO* to) {
    return PEM_write_bio_PKCS8PrivateKey(to, key, nullptr, nullptr, 0, nullptr, nullptr);
  });
}

/// As a new file that takes the place of the old one when it is whole.
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
  std::ifstream file(path);
  std::ostringstream text;
  if (!(text << file.rdbuf()) || !file) {
    throw std::runtime_error("certificates: cannot read " + path.string());
  }
  return text.str();
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

/// With what every certificate has; the extensions are to follow.
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

void check(const certificate_request& request) {
  const auto in_name = [](unsigned char c) { return is_plain(c) || c == '_' || c == '*'; };
  const auto& name = request.name;
  if (name.empty() || name.size() > name_max || !std::ranges::all_of(name, in_name) ||
      name.starts_with('.')) {
    throw std::invalid_argument(
        "certificates: name: expected 1 to 64 letters, digits, '-', '_', "
        "'.' and '*', got \"" +
        name + "\"");
  }
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
}

fs::path issue_certificate(const fs::path& directory, const certificate_request& request,
                           bool force) {
  check(request);
  const auto not_before = request.valid_from.value_or(now());
  const auto not_after = not_before + checked(request.valid_for);
  const auto folder = directory / folder_of(request.name);
  refuse_existing(folder / "cert.pem", force);
  refuse_existing(folder / "key.pem", force);

  const auto authority_file = directory / "ca.pem";
  const auto authority_text = read_file(authority_file);
  const auto authority = certificate_in(authority_text);
  require(authority != nullptr, authority_file.string() + ": expected a certificate");
  const auto authority_key_file = directory / "ca.key.pem";
  const auto authority_key = key_in(read_file(authority_key_file));
  require(authority_key != nullptr, authority_key_file.string() + ": expected a private key");
  require(X509_check_private_key(authority.get(), authority_key.get()) == 1,
          authority_key_file.string() + " is not the key of " + authority_file.string());
  const auto authority_end = facts_of(*authority).not_after;
  if (authority_end <= now()) {
    throw std::runtime_error("certificates: " + authority_file.string() + " has expired");
  }

  const auto key = make_key();
  const auto made =
      make_certificate(key.get(), request.name, not_before, std::min(not_after, authority_end));
  add_extension(made.get(), authority.get(), NID_basic_constraints, "critical,CA:FALSE");
  add_extension(made.get(), authority.get(), NID_key_usage, "critical,digitalSignature");
  add_extension(made.get(), authority.get(), NID_ext_key_usage, "serverAuth,clientAuth");
  add_extension(made.get(), authority.get(), NID_subject_alt_name, alternative_names(request));
  add_extension(made.get(), authority.get(), NID_subject_key_identifier, "hash");
  add_extension(made.get(), authority.get(), NID_authority_key_identifier, "keyid:always");
  sign(made.get(), authority.get(), authority_key.get());
  fs::create_directories(folder);
  write_file(folder / "key.pem", pem_of(key.get()), 0600);
  write_file(folder / "cert.pem", pem_of(made.get()), 0644);
  write_file(folder / "ca.pem", pem_of(authority.get()), 0644);
  return folder;
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
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(directory)) {
    const auto file = entry.path() / "cert.pem";
    if (fs::exists(file)) files.push_back(file);
  }
  std::ranges::sort(files);
  for (const auto& file : files) found.emplace_back(file, read_certificate(file));
  return found;
}

}  // namespace troupe
