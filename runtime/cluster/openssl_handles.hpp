#pragma once
// Owning pointers of OpenSSL's objects. Only .cpp files include this header.

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

namespace troupe::detail {

template <auto Free>
struct openssl_deleter {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};

using bio_ptr = std::unique_ptr<BIO, openssl_deleter<BIO_free_all>>;
using asn1_integer_ptr = std::unique_ptr<ASN1_INTEGER, openssl_deleter<ASN1_INTEGER_free>>;
using asn1_time_ptr = std::unique_ptr<ASN1_TIME, openssl_deleter<ASN1_TIME_free>>;
using bignum_ptr = std::unique_ptr<BIGNUM, openssl_deleter<BN_free>>;
using key_ptr = std::unique_ptr<EVP_PKEY, openssl_deleter<EVP_PKEY_free>>;
using certificate_ptr = std::unique_ptr<X509, openssl_deleter<X509_free>>;
using extension_ptr = std::unique_ptr<X509_EXTENSION, openssl_deleter<X509_EXTENSION_free>>;
using revocation_list_ptr = std::unique_ptr<X509_CRL, openssl_deleter<X509_CRL_free>>;
using revoked_ptr = std::unique_ptr<X509_REVOKED, openssl_deleter<X509_REVOKED_free>>;
using store_ptr = std::unique_ptr<X509_STORE, openssl_deleter<X509_STORE_free>>;
using store_context_ptr = std::unique_ptr<X509_STORE_CTX, openssl_deleter<X509_STORE_CTX_free>>;
using names_ptr = std::unique_ptr<GENERAL_NAMES, openssl_deleter<GENERAL_NAMES_free>>;

struct certificates_deleter {
  void operator()(STACK_OF(X509) * stack) const { sk_X509_pop_free(stack, X509_free); }
};
using certificates_ptr = std::unique_ptr<STACK_OF(X509), certificates_deleter>;

/// Returns the library's reason for its last failure, and clears it.
inline std::string openssl_reason() {
  const auto code = ERR_get_error();
  ERR_clear_error();
  const char* const reason = code ? ERR_reason_error_string(code) : nullptr;
  return reason ? reason : "no reason given";
}

/// Returns a reader of `text`, which must outlive it.
inline bio_ptr reader_of(const std::string& text) {
  return bio_ptr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

}  // namespace troupe::detail
