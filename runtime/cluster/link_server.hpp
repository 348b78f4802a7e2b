#pragma once
// Listens for the nodes of a cluster and decides which of them may join. Internal to runtime/.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "runtime/cluster/framed_link.hpp"
#include "runtime/cluster/hello.hpp"

namespace troupe {
class metrics_registry;
}

namespace troupe::detail {

struct link_server_options {
  std::string address = "127.0.0.1:0";  ///< The address HOST:PORT; port 0 means any free port.
  /// The directory with ca.pem, cert.pem and key.pem, whose role is "controller". Empty means plain
  /// text, on loopback addresses only.
  std::string certs;
  /// The file of the secret that both sides must know in plain text. Empty means the default file
  /// (see join_secret).
  std::string join_secret;
  std::string name = "controller";
  /// The build to require; empty means build_id(). Nodes of another build are refused.
  std::string build;
  link_options link;
  /// The time in which a connection must send its first bytes, agree on TLS, and exchange
  /// challenges and hellos.
  std::chrono::milliseconds hello_within{5000};
  /// The time between two checks whether the certificates of joined nodes have been revoked
  /// (crl.pem). The links of such nodes end.
  std::chrono::milliseconds revoked_every{60'000};
  /// The registry that counts refused peers and shows when the certificate expires; null means
  /// none. It outlives the server.
  metrics_registry* metrics = nullptr;
};

/// Admits nodes. A node needs a certificate of the same authority for its name and role that isn't
/// revoked or, without certificates, the join secret. It must have the same protocol and build, and
/// no other node may have its name. The name of a lost link is free again.
class link_server {
 public:
  /// Called for each admitted node, on the thread of all links, so it must not wait. `way` should
  /// be opened soon, because its loss isn't noticed before.
  using joined_handler = std::function<void(const hello& who, std::shared_ptr<link> way)>;

  /// Throws a std::runtime_error that names the address where it can't listen, or the unusable file
  /// of a certificate or join secret. Throws std::invalid_argument for a bad name or address, and
  /// for an address beyond this machine without certificates.
  link_server(link_server_options options, joined_handler on_joined);
  /// Closes every link and the port. Takes at most two seconds if no listener of a link blocks. A
  /// listener must not destroy the server.
  ~link_server();
  link_server(const link_server&) = delete;
  link_server& operator=(const link_server&) = delete;

  std::uint16_t port() const;

 private:
  class core;
  std::shared_ptr<core> core_;
  struct parts;
  std::unique_ptr<parts> parts_;
};

}  // namespace troupe::detail
