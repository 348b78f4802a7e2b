#pragma once
// Listens for the processes of a cluster, and says who of them may join.

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
  std::string address = "127.0.0.1:0";  ///< HOST:PORT; port 0: any free one.
  /// A directory with ca.pem, cert.pem and key.pem, whose role is "controller". Empty: plain text,
  /// on loopback addresses alone.
  std::string certs;
  /// The file of the secret that both sides have to know in plain text. Empty: the usual one (class
  /// join_secret).
  std::string join_secret;
  std::string name = "controller";
  std::string build;  ///< Empty: build_id(). Another build is refused.
  link_options link;
  /// How long a connection may take to say something, to agree on TLS, and to exchange challenges
  /// and hellos.
  std::chrono::milliseconds hello_within{5000};
  /// How often it is looked at whether the certificates of nodes that are here have been revoked
  /// meanwhile (crl.pem); their links end then.
  std::chrono::milliseconds revoked_every{60'000};
  /// Counts who is refused, and says when the certificate expires. It outlives the server.
  metrics_registry* metrics = nullptr;
};

/// Admits nodes: those with a certificate of the same authority for their name and role that has
/// not been revoked, or without certificates those that know the join secret, of the same protocol
/// and build, one a name at a time. The name of a link that has been lost is free again.
class link_server {
 public:
  /// Called for each node that is admitted, on threads of gRPC's, maybe several at once. `way` is
  /// to be opened soon: before that, what is lost isn't noticed.
  using joined_handler = std::function<void(const hello& who, std::shared_ptr<link> way)>;

  /// Throws std::runtime_error naming the address where it can't be listened at or the file of
  /// a certificate or a join secret that will not do, and std::invalid_argument for a bad name or
  /// address, or one beyond this machine without certificates.
  link_server(link_server_options options, joined_handler on_joined);
  /// Closes every link and the port. Takes two seconds at most where no listener of a link blocks.
  /// Not to be called by one.
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
