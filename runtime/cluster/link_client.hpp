#pragma once
// Joins a cluster, and joins it again whenever the link is lost. Internal to runtime/.

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
  std::string address;  ///< The address of the controller, HOST:PORT.
  /// The directory with ca.pem, cert.pem and key.pem, whose role is "node". Empty means plain text,
  /// to loopback addresses only.
  std::string certs;
  /// The file of the secret that both sides must know in plain text. Empty means the default file
  /// (see join_secret).
  std::string join_secret;
  std::string name;   ///< The name of this node.
  int slots = 0;      ///< The number of replicas that this node takes; 0 means one per core.
  std::string build;  ///< The build to claim; empty means build_id().
  link_options link;
  /// The time for one attempt, from the connection to the hello.
  std::chrono::milliseconds join_within{5000};
  std::chrono::milliseconds retry_first{50};  ///< The pause after the first attempt that fails.
  /// The longest pause. The pause doubles after each further failure, with jitter.
  std::chrono::milliseconds retry_max{5000};
  /// The registry that shows when the certificate expires; null means none. It outlives the client.
  metrics_registry* metrics = nullptr;
};

struct link_client_events {
  /// A link was made, with `controller` on the other side. Called on the thread of all links, so it
  /// must not wait. The link should be opened soon; the next one is made after this one is lost.
  std::function<void(const hello& controller, std::shared_ptr<link> way)> joined;
  /// An attempt has failed; the next one follows by itself. `refused` is true if one of the two
  /// sides doesn't accept the other, and `why` says the reason. May be empty.
  std::function<void(const std::string& why, bool refused)> failed;
};

class link_client {
 public:
  /// Begins to join and doesn't wait. Throws std::invalid_argument for a bad name, and
  /// std::runtime_error that names an unusable file of a certificate or join secret.
  link_client(link_client_options options, link_client_events events);
  /// Closes the link and gives up an attempt under way. Takes at most a second if no listener
  /// blocks. An event must not destroy the client.
  ~link_client();
  link_client(const link_client&) = delete;
  link_client& operator=(const link_client&) = delete;

 private:
  class core;
  std::shared_ptr<core> core_;
};

}  // namespace troupe::detail
