#pragma once
// Stands at the port: looks at the first bytes of a connection, and lets in what may be a peer.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "runtime/cluster/refusal.hpp"

namespace troupe::detail {

struct doorman_options {
  std::string address;  ///< HOST:PORT; port 0: any free one.
  bool secure = false;  ///< Whether TLS is expected, or HTTP/2 in plain text.
  std::chrono::milliseconds first_bytes_within{5000};
  /// Connections that have said nothing: when one more comes, the one that has waited for longest
  /// goes.
  std::size_t silent_max = 256;
};

class doorman {
 public:
  /// Both are called on the doorman's thread. `let_in` owns the descriptor it gets.
  struct handlers {
    std::function<void(int connection)> let_in;
    std::function<void(const join_refusal& why)> refuse;
  };

  /// Throws std::invalid_argument for what is no HOST:PORT, and for an address beyond this machine
  /// where `secure` is false; std::runtime_error naming the address where it can't be listened at.
  doorman(doorman_options options, handlers then);
  /// Closes the port, and every connection that waits at it.
  ~doorman();
  doorman(const doorman&) = delete;
  doorman& operator=(const doorman&) = delete;

  std::uint16_t port() const;
  /// Begins to let in.
  void open();

 private:
  class port_at;
  std::unique_ptr<port_at> at_;
};

}  // namespace troupe::detail
