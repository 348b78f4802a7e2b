#pragma once
// Listens for streams of other processes. Internal to runtime/.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "runtime/cluster/peer_stream.hpp"

namespace troupe::detail {

struct listener_options {
  std::string address;             ///< The address HOST:PORT; port 0 means any free port.
  std::optional<credentials> own;  ///< None means plain text, on loopback addresses only.
  /// The file of the join secret, for plain text; empty means the default file.
  std::string secret_file;
  link_options link;
  /// The time in which a connection must send its first bytes, agree on TLS, and exchange
  /// challenges and hellos.
  std::chrono::milliseconds hello_within{5000};
  /// The largest number of connections that haven't proved who they are, which bounds what
  /// strangers cost. One more closes the connection that has waited longest, so that slow strangers
  /// keep no peer out. An exchange takes milliseconds, so this number of peers may join at once.
  std::size_t unproven_max = 128;
  /// The same for those of one address (IPv6: of one network of 64 bits).
  std::size_t unproven_of_one_address_max = 64;
};

class stream_listener {
 public:
  /// Throws as listen_for_peers, calling_context and join_secret do.
  stream_listener(listener_options options, std::shared_ptr<stream_owner> owner);
  /// Closes the port, ends every stream, and waits until the links have told their listeners so, at
  /// most 2 seconds. Must not run on the thread of link_context().
  ~stream_listener();
  stream_listener(const stream_listener&) = delete;
  stream_listener& operator=(const stream_listener&) = delete;

  std::uint16_t port() const;

 private:
  class entrance;
  std::shared_ptr<entrance> entrance_;
};

}  // namespace troupe::detail
