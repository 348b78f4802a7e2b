#pragma once
// Reaches the listeners of other processes. Internal to runtime/.

#include <memory>
#include <optional>
#include <string>

#include "runtime/cluster/peer_stream.hpp"

namespace troupe::detail {

/// An attempt to reach a listener, and the link that it leads to.
class stream_call {
 public:
  virtual ~stream_call() = default;
  /// Ends the attempt at any time. The owner is told `failed`, or its link ends. May be called on
  /// any thread.
  virtual void cancel() = 0;
};

/// What the calls of one process share.
class stream_caller {
 public:
  /// `secret_file` is the file of the join secret, for plain text; empty means the default file.
  /// Throws as join_secret does.
  stream_caller(const std::optional<credentials>& own, const std::string& secret_file);

  /// Begins an attempt to reach HOST:PORT. `owner` is told either `failed` or `joined`, maybe
  /// before this returns. The listener has to prove that it is at `address` or, without
  /// credentials, that it knows the secret. The attempt has no deadline of its own.
  std::unique_ptr<stream_call> call(const std::string& address, const link_options& options,
                                    std::shared_ptr<stream_owner> owner) const;

 private:
  trust by_;
};

}  // namespace troupe::detail
