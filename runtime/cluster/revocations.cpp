#include "runtime/cluster/revocations.hpp"

#include <algorithm>
#include <stdexcept>

#include "runtime/cluster/certificate_text.hpp"
#include "runtime/cluster/credentials.hpp"

namespace troupe::detail {

namespace {

bool has_signed(const X509& authority, X509_CRL& list) {
  return X509_NAME_cmp(X509_CRL_get_issuer(&list), X509_get_subject_name(&authority)) == 0 &&
         X509_CRL_verify(&list, X509_get0_pubkey(&authority)) == 1;
}

bool is_signed_by_one_of(const certificates_ptr& authorities, X509_CRL& list) {
  bool good = false;
  for (int i = 0; i < sk_X509_num(authorities.get()); ++i) {
    good = good || has_signed(*sk_X509_value(authorities.get(), i), list);
  }
  ERR_clear_error();
  return good;
}

}  // namespace

std::vector<revocation_list_ptr> read_revocations(const std::filesystem::path& file,
                                                  const std::string& authority) {
  // A symbolic link without a target counts as a file, so that a mistake admits no revoked
  // certificate.
  if (!std::filesystem::exists(std::filesystem::symlink_status(file))) return {};
  auto lists = revocation_lists_in(read_whole_file(file));
  if (lists.empty()) {
    throw std::runtime_error(file.string() + ": expected a list of revoked certificates in PEM");
  }
  const auto authorities = certificates_in(authority);
  for (const auto& list : lists) {
    if (is_signed_by_one_of(authorities, *list)) continue;
    throw std::runtime_error(file.string() +
                             ": expected a list that the authority of ca.pem has signed, got one "
                             "of another authority or a damaged one");
  }
  return lists;
}

bool is_revoked(X509& certificate, const std::vector<revocation_list_ptr>& lists) {
  return std::ranges::any_of(lists, [&](const revocation_list_ptr& list) {
    X509_REVOKED* entry = nullptr;  // The list owns the entry.
    return X509_CRL_get0_by_cert(list.get(), &entry, &certificate) != 0;
  });
}

}  // namespace troupe::detail
