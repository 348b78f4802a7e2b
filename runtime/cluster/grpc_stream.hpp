#pragma once
// Streams between processes, carried by gRPC: one that begins with a hello each way, and then
// carries a framed_link. What follows from who joins is its owner's business.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "runtime/cluster/framed_link.hpp"
#include "runtime/cluster/hello.hpp"

namespace troupe::detail {

/// Why a peer is not admitted.
struct refusal {
  std::string reason;  ///< For a metric: one of few words, such as "build".
  std::string text;    ///< For people.
};

/// What a peer's certificate says of it. Empty without certificates.
struct proven_identity {
  bool secure = false;
  std::string name;
  std::string role;
};

/// Hears of streams, on gRPC's threads, several at once.
class stream_owner {
 public:
  virtual ~stream_owner() = default;
  /// What this side says of itself.
  virtual hello own_hello() = 0;
  /// Whether to go on with this peer. Each one that is admitted ends up in `joined` or `left`.
  virtual std::optional<refusal> judge(const hello& theirs, const proven_identity& proven) = 0;
  virtual void joined(const hello& theirs, std::shared_ptr<framed_link> way) = 0;
  /// One that was admitted has gone before the link was made.
  virtual void left(const hello& theirs) = 0;
  /// A stream ended without a link: what came was no hello, or the peer has refused or can't be
  /// reached.
  virtual void failed(const refusal& why) = 0;
};

/// Listens for streams.
class grpc_listener {
 public:
  /// `address`: HOST:PORT, where port 0 is any free one. Throws std::runtime_error naming it where
  /// it can't be listened at.
  grpc_listener(const std::string& address, const link_options& options,
                std::shared_ptr<stream_owner> owner);
  /// Ends every stream.
  ~grpc_listener();
  std::uint16_t port() const;
  /// Ends streams that have not said hello by now.
  void expire_hellos(std::chrono::steady_clock::time_point begun_before);

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

/// Begins one. `owner` hears either `failed` or `joined`, maybe before this returns.
std::unique_ptr<grpc_call> call_listener(const std::string& address, const link_options& options,
                                         std::shared_ptr<stream_owner> owner);

}  // namespace troupe::detail
