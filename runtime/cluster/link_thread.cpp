#include "runtime/cluster/link_thread.hpp"

#include <openssl/crypto.h>

#include "runtime/net/io_thread.hpp"

namespace troupe::detail {

boost::asio::io_context& link_context() {
  // OpenSSL keeps a list of errors for each thread. A thread that loads their texts on the way to
  // its list gets two, and the first one is lost. What OpenSSL keeps for a thread is freed at the
  // thread's end, which must come before the end of OpenSSL.
  static const int is_set_up = OPENSSL_init_crypto(OPENSSL_INIT_LOAD_CRYPTO_STRINGS, nullptr);
  static_cast<void>(is_set_up);
  static io_thread thread("troupe-cluster");
  return thread.context();
}

}  // namespace troupe::detail
