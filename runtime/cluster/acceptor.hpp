#pragma once
// The acceptor of a port. It looks at the first bytes of each connection and lets in those that may
// be a peer.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "runtime/cluster/refusal.hpp"

namespace troupe::detail {

struct acceptor_options {
  std::string address;  ///< The address HOST:PORT; port 0 means any free port.
  bool secure = false;  ///< True expects TLS, false expects HTTP/2 in plain text.
  std::chrono::milliseconds first_bytes_within{5000};
  /// The largest number of connections that have sent nothing. One more closes the connection that
  /// has waited longest.
  std::size_t silent_max = 256;
};

/// Checks an address without listening there. Throws what acceptor's constructor throws for an
/// address that can't be used.
void check_listen_address(const std::string& address, bool secure);

class acceptor {
 public:
  /// Both are called on the acceptor's thread. `let_in` owns the descriptor that it gets.
  struct handlers {
    std::function<void(int connection)> let_in;
    std::function<void(const join_refusal& why)> refuse;
  };

  /// Throws std::invalid_argument if the address isn't HOST:PORT, or is beyond this machine
  /// although `secure` is false. Throws a std::runtime_error that names the address if it can't
  /// listen there.
  acceptor(acceptor_options options, handlers then);
  /// Closes the port and every connection that waits at it.
  ~acceptor();
  acceptor(const acceptor&) = delete;
  acceptor& operator=(const acceptor&) = delete;

  std::uint16_t port() const;
  /// Begins to let connections in.
  void open();

 private:
  class port_at;
  std::unique_ptr<port_at> at_;
};

}  // namespace troupe::detail
