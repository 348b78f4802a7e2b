#pragma once
// Streams between processes, carried by gRPC: one that begins with a hello each way, without
// certificates after a challenge each way, and then carries a framed_link. What follows from who
// joins is its owner's business.

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

/// Hears of streams, on gRPC's threads, several at once.
class stream_owner {
 public:
  virtual ~stream_owner() = default;
  /// What this side says of itself.
  virtual hello own_hello() = 0;
  /// Whether to go on with this peer, whose certificate (PEM) agrees with what it says; where there
  /// is none, it knows the join secret. Each one that is admitted ends up in `joined` or `left`.
  virtual std::optional<join_refusal> judge(const hello& theirs,
                                            const std::string& certificate) = 0;
  virtual void joined(const hello& theirs, std::shared_ptr<framed_link> way) = 0;
  /// One that was admitted has gone before the link was made.
  virtual void left(const hello& theirs) = 0;
  /// A stream, or what was to become one, ended without a link. For who calls, `reason` is
  /// "refused" by the peer or "unreachable", too.
  virtual void failed(const join_refusal& why) = 0;
};

struct listener_options {
  std::string address;             ///< HOST:PORT; port 0: any free one.
  std::optional<credentials> own;  ///< None: plain text, on loopback addresses alone.
  std::string secret_file;         ///< Of the join secret, for plain text; empty: the usual one.
  link_options link;
  /// How long a connection may take to say something, to agree on TLS, and to exchange challenges
  /// and hellos.
  std::chrono::milliseconds hello_within{5000};
};

/// Listens for streams.
class grpc_listener {
 public:
  /// Throws as doorman and class join_secret do.
  grpc_listener(listener_options options, std::shared_ptr<stream_owner> owner);
  /// Ends every stream.
  ~grpc_listener();
  std::uint16_t port() const;
  /// Ends streams on which hellos have not been exchanged in time.
  void tick(std::chrono::steady_clock::time_point now);

 private:
  class service;
  std::unique_ptr<service> service_;
};

/// An attempt to reach a listener, and what comes of it. To be kept until the owner has heard
/// `failed`, or its link has gone. The last one of a process waits for gRPC's threads to end, so
/// it must not be let go on one of them.
class grpc_call {
 public:
  virtual ~grpc_call() = default;
  /// Ends it, at any time; the owner hears `failed` or its link ends.
  virtual void cancel() = 0;
};

/// What calls of one process share.
class caller_side {
 public:
  /// `secret_file` is that of the join secret, for plain text; empty: the usual one. Throws as
  /// class join_secret does.
  caller_side(const std::optional<credentials>& own, const std::string& secret_file);
  ~caller_side();

  /// Begins an attempt. `owner` hears either `failed` or `joined`, maybe before this returns. Who
  /// listens has to prove that it is at `address`, without credentials that it knows the secret.
  std::unique_ptr<grpc_call> call(const std::string& address, const link_options& options,
                                  std::shared_ptr<stream_owner> owner);

 private:
  struct security;
  std::unique_ptr<security> security_;
};

}  // namespace troupe::detail
