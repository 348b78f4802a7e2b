#pragma once
// The interface of a link to another process: a Unix socket to a child, a gRPC stream to another
// machine, or a simulated link. It carries blocks and doesn't know their meaning. Internal to
// runtime/.

#include <memory>
#include <string>

#include "runtime/actor/inbox.hpp"
#include "runtime/wire/block.hpp"

namespace troupe::detail {

/// Receives the events of a link, one after another, on the link's own threads. It must neither
/// throw nor wait, because other links may share the thread.
class link_listener {
 public:
  virtual ~link_listener() = default;
  /// Called with one whole block that the other side has sent.
  virtual void received(block message) = 0;
  /// False while so much of what came is not handled yet that nothing more may be read. The
  /// listener calls link::resume when that changes. May be called on any thread, with locks of the
  /// link held.
  virtual bool has_room() const { return true; }
  /// Called when the bytes that wait to be sent have fallen below the link's bound again.
  virtual void writable() = 0;
  /// The last event, after the other side has gone or `close` was called. `why` is a text for
  /// people.
  virtual void closed(const std::string& why) = 0;
};

/// Delivers blocks in the order of sending, control blocks first, each once and whole, until it is
/// closed. Only a link without `keeps_order` also delivers late, early and twice. Blocks that are
/// under way at that moment are lost. May be called on any thread.
class link {
 public:
  virtual ~link() = default;

  /// Begins to receive. Call it once.
  virtual void open(std::shared_ptr<link_listener> listener) = 0;
  /// Allocates memory for one block that this link will send.
  virtual block allocate(std::size_t size) { return block(size); }
  /// Reports that the listener has room again, so that the link reads on.
  virtual void resume() {}
  /// Sends a block without blocking. A block that is sent after the end is dropped.
  virtual void send(block message, priority urgency) = 0;
  /// True if more bytes than the bound wait to be sent; then wait for `writable`. Control blocks
  /// may be sent all the same.
  virtual bool full() const = 0;
  virtual void close(const std::string& why) = 0;
  /// True if bytes can be damaged on the way, so that messages need a checksum.
  virtual bool needs_checksum() const = 0;
  /// True if the blocks of an urgency arrive in the order of sending, each once. A block that is
  /// missing then means that the link is broken.
  virtual bool keeps_order() const { return true; }
};

/// The largest size of a block in bytes. Links refuse longer blocks.
inline constexpr std::size_t max_message = std::size_t{1} << 30;

/// The largest number of blocks that wait to be sent over one link, whatever their size. With more,
/// which only a peer that doesn't read can cause, the link ends.
inline constexpr std::size_t waiting_blocks_max = std::size_t{1} << 18;

}  // namespace troupe::detail
