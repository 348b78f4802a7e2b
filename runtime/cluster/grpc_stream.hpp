#pragma once
// Streams between processes over gRPC. Each begins with a hello from both sides, after a challenge
// from both sides if there are no certificates, and then carries a framed_link. The stream's owner
// decides who may join. Internal to runtime/.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "runtime/cluster/credentials.hpp"
#include "runtime/cluster/framed_link.hpp"
#include "runtime/cluster/hello.hpp"
#include "runtime/cluster/refusal.hpp"

namespace troupe::detail {

/// Receives the events of streams, on gRPC's threads, several at once.
class stream_owner {
 public:
  virtual ~stream_owner() = default;
  /// Returns the hello of this side.
  virtual hello own_hello() = 0;
  /// Decides about a peer whose hello agrees with its certificate (PEM) or, without certificates,
  /// which knows the join secret. Returns nothing to admit it. Each admitted peer leads to a call
  /// of `joined` or `left`.
  virtual std::optional<join_refusal> find_refusal(const hello& theirs,
                                                   const std::string& certificate) = 0;
  virtual void joined(const hello& theirs, std::shared_ptr<framed_link> way) = 0;
  /// An admitted peer has gone before the link was made.
  virtual void left(const hello& theirs) = 0;
  /// A stream, or an attempt to make one, has ended without a link. On the calling side `reason`
  /// may also be "refused" (by the peer) or "unreachable".
  virtual void failed(const join_refusal& why) = 0;
};

struct listener_options {
  std::string address;             ///< The address HOST:PORT; port 0 means any free port.
  std::optional<credentials> own;  ///< None means plain text, on loopback addresses only.
  /// The file of the join secret, for plain text; empty means the default file.
  std::string secret_file;
  link_options link;
  /// The time in which a connection must send its first bytes, agree on TLS, and exchange
  /// challenges and hellos.
  std::chrono::milliseconds hello_within{5000};
};

/// Listens for streams.
class grpc_listener {
 public:
  /// Throws as acceptor and join_secret do.
  grpc_listener(listener_options options, std::shared_ptr<stream_owner> owner);
  /// Ends every stream.
  ~grpc_listener();
  std::uint16_t port() const;
  /// Ends the streams that have not exchanged hellos in time.
  void tick(std::chrono::steady_clock::time_point now);

 private:
  class service;
  std::unique_ptr<service> service_;
};

/// An attempt to reach a listener, and the link that it leads to. Keep it until the owner has been
/// told `failed` or the link has gone. The last one of a process waits for gRPC's threads to end,
/// so it must not be destroyed on one of them.
class grpc_call {
 public:
  virtual ~grpc_call() = default;
  /// Ends the call at any time. The owner is told `failed`, or its link ends.
  virtual void cancel() = 0;
};

/// The state that the calls of one process share.
class caller_side {
 public:
  /// `secret_file` is the file of the join secret, for plain text; empty means the default file.
  /// Throws as join_secret does.
  caller_side(const std::optional<credentials>& own, const std::string& secret_file);
  ~caller_side();

  /// Begins an attempt. `owner` is told either `failed` or `joined`, maybe before this returns. The
  /// listener has to prove that it is at `address` or, without credentials, that it knows the
  /// secret.
  std::unique_ptr<grpc_call> call(const std::string& address, const link_options& options,
                                  std::shared_ptr<stream_owner> owner);

 private:
  struct security;
  std::unique_ptr<security> security_;
};

}  // namespace troupe::detail
