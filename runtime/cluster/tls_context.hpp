#pragma once
// TLS between processes: version 1.3 alone, certificates on both sides, no session tickets, no
// compression. Internal to this folder.

#include <boost/asio/ssl/context.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "runtime/cluster/credentials.hpp"
#include "runtime/cluster/refusal.hpp"

namespace troupe::detail {

/// Judges the certificates that the other side shows, in PEM, its own first. Must not throw.
using chain_judge = std::function<std::optional<join_refusal>(const std::string& chain)>;

/// Makes the settings of a side that calls. `judge` is called during the handshake, before this
/// side shows its own certificate, and a refusal ends the handshake. It must outlive the context.
/// Throws a std::runtime_error that names the unusable file.
boost::asio::ssl::context calling_context(const credentials& own, const chain_judge& judge);

/// The settings of a side that listens. It asks for a certificate and accepts any; the caller of
/// shown_chain() judges it after the handshake, so that the other side can be told why it is
/// refused.
class listening_contexts {
 public:
  /// Throws as calling_context does.
  explicit listening_contexts(const credentials& own);

  /// Returns the settings of the next connection. The files are read again each minute, so that new
  /// certificates need no restart. While they are unusable the last ones stay.
  std::shared_ptr<boost::asio::ssl::context> current();

 private:
  const credentials own_;
  std::shared_ptr<boost::asio::ssl::context> context_;
  std::chrono::steady_clock::time_point made_;
};

/// Returns the certificates that the other side of a connection has shown, in PEM, its own first;
/// empty if it has shown none.
std::string shown_chain(const SSL& connection);

}  // namespace troupe::detail
