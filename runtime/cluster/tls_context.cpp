#include "runtime/cluster/tls_context.hpp"

#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <filesystem>
#include <stdexcept>

#include "runtime/base/log.hpp"
#include "runtime/cluster/openssl_handles.hpp"

namespace troupe::detail {

namespace {

namespace asio = boost::asio;
namespace ssl = asio::ssl;
using boost::system::error_code;

constexpr std::chrono::seconds files_read_every(60);
/// The largest certificates that the other side may show, in bytes. Those of `troupe certs` take
/// less than 1 KB.
constexpr long shown_bytes_max = 16 << 10;

void add_pem(std::string& to, X509* certificate) {
  const bio_ptr memory(BIO_new(BIO_s_mem()));
  if (!memory || PEM_write_bio_X509(memory.get(), certificate) != 1) return;
  char* text = nullptr;
  const auto size = BIO_get_mem_data(memory.get(), &text);
  to.append(text, static_cast<std::size_t>(size));
}

void add_all(std::string& to, const STACK_OF(X509) * certificates, X509* but) {
  for (int i = 0; i < sk_X509_num(certificates); ++i) {
    auto* const each = sk_X509_value(certificates, i);
    if (!but || X509_cmp(each, but) != 0) add_pem(to, each);
  }
}

/// Called by OpenSSL in place of its own check of a chain. `judge` is null on the listening side.
int check_chain(X509_STORE_CTX* shown, void* judge) {
  if (!judge) return 1;
  std::string chain;
  auto* const first = X509_STORE_CTX_get0_cert(shown);
  if (first) add_pem(chain, first);
  add_all(chain, X509_STORE_CTX_get0_untrusted(shown), first);
  if (!(*static_cast<const chain_judge*>(judge))(chain)) return 1;
  X509_STORE_CTX_set_error(shown, X509_V_ERR_APPLICATION_VERIFICATION);
  return 0;
}

void need(const error_code& error, const std::filesystem::path& file) {
  if (error) {
    ERR_clear_error();
    throw std::runtime_error(file.string() + ": cannot use it for TLS: " + error.message());
  }
}

ssl::context make_context(const credentials& own, const chain_judge* judge) {
  ssl::context made(ssl::context::tlsv13);
  auto* const native = made.native_handle();
  SSL_CTX_set_min_proto_version(native, TLS1_3_VERSION);
  SSL_CTX_set_options(native, SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_num_tickets(native, 0);
  SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_max_cert_list(native, shown_bytes_max);
  // A connection that is idle keeps no buffers of records.
  SSL_CTX_set_mode(native, SSL_MODE_RELEASE_BUFFERS);
  made.set_verify_mode(ssl::verify_peer);
  SSL_CTX_set_cert_verify_callback(native, check_chain, const_cast<chain_judge*>(judge));
  error_code error;
  const auto chain = read_whole_file(own.certificate_file());
  made.use_certificate_chain(asio::buffer(chain), error);
  need(error, own.certificate_file());
  const auto key = read_whole_file(own.key_file());
  made.use_private_key(asio::buffer(key), ssl::context::pem, error);
  need(error, own.key_file());
  return made;
}

}  // namespace

ssl::context calling_context(const credentials& own, const chain_judge& judge) {
  return make_context(own, &judge);
}

listening_contexts::listening_contexts(const credentials& own)
    : own_(own),
      context_(std::make_shared<ssl::context>(make_context(own_, nullptr))),
      made_(std::chrono::steady_clock::now()) {}

std::shared_ptr<ssl::context> listening_contexts::current() {
  const auto now = std::chrono::steady_clock::now();
  if (now - made_ < files_read_every) return context_;
  made_ = now;
  try {
    context_ = std::make_shared<ssl::context>(make_context(own_, nullptr));
  } catch (const std::exception& e) {
    log::error("the certificate can't be read again, so the last one stays",
               {{"reason", e.what()}});
  }
  return context_;
}

std::string shown_chain(const SSL& connection) {
  const certificate_ptr first(SSL_get1_peer_certificate(&connection));
  std::string chain;
  if (!first) return chain;
  add_pem(chain, first.get());
  // On the listening side OpenSSL leaves the peer's own certificate out of the chain.
  add_all(chain, SSL_get_peer_cert_chain(&connection), first.get());
  return chain;
}

}  // namespace troupe::detail
