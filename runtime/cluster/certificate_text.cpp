#include "runtime/cluster/certificate_text.hpp"

#include <arpa/inet.h>
#include <openssl/pem.h>

#include <array>
#include <ctime>
#include <string_view>

namespace troupe::detail {

namespace {

/// Makes OpenSSL fail on an encrypted key instead of asking for its passphrase.
int no_passphrase(char*, int, int, void*) { return -1; }

std::chrono::sys_seconds time_of(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return {};
  return std::chrono::time_point_cast<std::chrono::seconds>(
      std::chrono::system_clock::from_time_t(timegm(&parts)));
}

std::string text_of(const ASN1_STRING* string) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(string)),
          static_cast<std::size_t>(ASN1_STRING_length(string))};
}

std::string common_name(const X509& certificate) {
  const auto* const subject = X509_get_subject_name(&certificate);
  const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (at < 0) return {};
  return text_of(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
}

std::string address_of(const ASN1_OCTET_STRING* bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = ASN1_STRING_length(bytes) == 4 ? AF_INET : AF_INET6;
  if (family == AF_INET6 && ASN1_STRING_length(bytes) != 16) return {};
  inet_ntop(family, ASN1_STRING_get0_data(bytes), text.data(), text.size());
  return text.data();
}

}  // namespace

certificate_ptr certificate_in(const std::string& pem) {
  const auto from = reader_of(pem);
  return certificate_ptr(PEM_read_bio_X509(from.get(), nullptr, no_passphrase, nullptr));
}

certificates_ptr certificates_in(const std::string& pem) {
  certificates_ptr found(sk_X509_new_null());
  const auto from = reader_of(pem);
  while (X509* const next = PEM_read_bio_X509(from.get(), nullptr, no_passphrase, nullptr)) {
    sk_X509_push(found.get(), next);
  }
  ERR_clear_error();  // OpenSSL reports the end of the text as an error.
  return found;
}

key_ptr key_in(const std::string& pem) {
  const auto from = reader_of(pem);
  return key_ptr(PEM_read_bio_PrivateKey(from.get(), nullptr, no_passphrase, nullptr));
}

std::vector<revocation_list_ptr> revocation_lists_in(const std::string& pem) {
  std::vector<revocation_list_ptr> found;
  const auto from = reader_of(pem);
  while (X509_CRL* const next =
             PEM_read_bio_X509_CRL(from.get(), nullptr, no_passphrase, nullptr)) {
    found.emplace_back(next);
  }
  const auto last = ERR_peek_last_error();
  const bool all_read =
      ERR_GET_LIB(last) == ERR_LIB_PEM && ERR_GET_REASON(last) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  if (!all_read) found.clear();
  return found;
}

certificate_facts facts_of(const X509& certificate) {
  certificate_facts facts{.name = common_name(certificate),
                          .not_before = time_of(X509_get0_notBefore(&certificate)),
                          .not_after = time_of(X509_get0_notAfter(&certificate))};
  auto* const object = const_cast<X509*>(&certificate);
  if (X509_check_ca(object) > 0) facts.role = "authority";
  const names_ptr names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const auto& name = *sk_GENERAL_NAME_value(names.get(), i);
    if (name.type == GEN_DNS) facts.hosts.push_back(text_of(name.d.dNSName));
    if (name.type == GEN_IPADD) facts.hosts.push_back(address_of(name.d.iPAddress));
    if (name.type != GEN_URI) continue;
    const auto uri = text_of(name.d.uniformResourceIdentifier);
    if (uri.starts_with(role_scheme)) facts.role = uri.substr(std::string_view(role_scheme).size());
  }
  return facts;
}

}  // namespace troupe::detail
