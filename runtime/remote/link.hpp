#pragma once
// A way to another process: a Unix socket to a child, a gRPC stream to another machine, or a
// simulated one. It carries blocks and knows nothing of what they mean.

#include <memory>
#include <string>

#include "runtime/actor/inbox.hpp"
#include "runtime/wire/block.hpp"

namespace troupe::detail {

/// Hears what comes over a link, on threads of the link's own, one event after the other. It must
/// not throw, nor wait: other links may share the thread.
class link_listener {
 public:
  virtual ~link_listener() = default;
  /// A block that the other side has sent, whole.
  virtual void received(block message) = 0;
  /// The bytes that wait to be sent have fallen below the link's bound again.
  virtual void writable() = 0;
  /// The last event: the other side has gone, or `close` was called. `why` is for people.
  virtual void closed(const std::string& why) = 0;
};

/// Delivers blocks in the order of sending (control before others), each once and whole, until it
/// is closed; then what is under way is lost. Any thread may call it.
class link {
 public:
  virtual ~link() = default;

  /// Begins to listen, once.
  virtual void open(std::shared_ptr<link_listener> listener) = 0;
  /// Memory for one block to be sent by this link.
  virtual block allocate(std::size_t size) { return block(size); }
  /// Never blocks. What comes after the end is dropped.
  virtual void send(block message, priority urgency) = 0;
  /// More bytes wait to be sent than the bound: wait for `writable`. Control is sent all the same.
  virtual bool full() const = 0;
  virtual void close(const std::string& why) = 0;
  /// Bytes can be damaged on the way, so messages need a checksum.
  virtual bool needs_checksum() const = 0;
};

/// What a block may hold at most, in bytes; links refuse a longer one that comes.
inline constexpr std::size_t max_message = std::size_t{1} << 30;

}  // namespace troupe::detail
