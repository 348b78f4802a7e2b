#pragma once
// Joins a cluster, and joins it again whenever the link has been lost.

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "runtime/cluster/framed_link.hpp"
#include "runtime/cluster/hello.hpp"

namespace troupe {
class metrics_registry;
}

namespace troupe::detail {

struct link_client_options {
  std::string address;  ///< HOST:PORT of the controller.
  /// A directory with ca.pem, cert.pem and key.pem, whose role is "node". Empty: plain text, to
  /// loopback addresses alone.
  std::string certs;
  /// The file of the secret that both sides have to know in plain text. Empty: the usual one (class
  /// join_secret).
  std::string join_secret;
  std::string name;   ///< Of this node.
  int slots = 0;      ///< Replicas it takes; 0: as many as there are cores.
  std::string build;  ///< Empty: build_id().
  link_options link;
  std::chrono::milliseconds join_within{5000};  ///< One attempt, from the connection to the hello.
  std::chrono::milliseconds retry_first{50};    ///< The pause after an attempt that has failed,
  std::chrono::milliseconds retry_max{5000};    ///< doubled each time up to this, with jitter.
  /// Says when the certificate expires. It outlives the client.
  metrics_registry* metrics = nullptr;
};

struct link_client_events {
  /// A link was made: `controller` is on the other side. On a thread of gRPC's; the next one is
  /// made after this one has been lost. To be opened soon.
  std::function<void(const hello& controller, std::shared_ptr<link> way)> joined;
  /// An attempt has failed; the next one follows by itself. `refused`: one of the two does not want
  /// the other, and says why. May be empty.
  std::function<void(const std::string& why, bool refused)> failed;
};

class link_client {
 public:
  /// Waits for nothing. Throws std::invalid_argument for a bad name, and std::runtime_error naming
  /// the file of a certificate or a join secret that will not do.
  link_client(link_client_options options, link_client_events events);
  /// Closes the link, and gives up what is under way. Takes a second at most where no listener
  /// blocks. Not to be called by an event.
  ~link_client();
  link_client(const link_client&) = delete;
  link_client& operator=(const link_client&) = delete;

 private:
  class core;
  std::shared_ptr<core> core_;
};

}  // namespace troupe::detail
