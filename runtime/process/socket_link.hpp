#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "runtime/net/event_loop.hpp"
#include "runtime/process/arena.hpp"
#include "runtime/remote/link.hpp"

namespace troupe::detail {

/// The header in front of the bytes on the socket. Both ends are the same binary on one machine.
struct socket_header {
  enum class kind : std::uint8_t {
    piece,  ///< `length` bytes follow, the next ones of a message of `total` bytes.
    shared  ///< `total` bytes are at `offset` in the sender's half of the shared memory.
  };
  static constexpr std::uint8_t magic = 0xa7;

  std::uint8_t mark = magic;
  kind what = kind::piece;
  std::uint8_t line = 0;  ///< 0 is normal, 1 is control. All pieces of a message are on one line.
  std::uint8_t unused = 0;
  std::uint32_t length = 0;
  std::uint64_t total = 0;
  std::uint64_t offset = 0;
};
static_assert(sizeof(socket_header) == 24);

/// The end of a link whose other side has gone.
struct link_ending {
  std::string why = "the other side has closed the link";
  /// The time that the link may wait for `no_more` to give a better reason.
  std::chrono::milliseconds reason_within{0};
  std::function<void()> after = {};  ///< Called on the link's thread after the listener was told.
};

/// A link over a Unix stream socket and shared memory. `send` writes at once, on the caller's
/// thread, unless other messages wait before it; then the io loop's thread writes. A block that
/// `allocate` took from the shared memory is sent as 24 bytes. Control messages overtake others
/// between pieces of 64 KiB.
///
/// Once opened, it lives until the other side has gone or stops reading, or until `close`.
class socket_link final : public link,
                          public event_loop::handler,
                          public std::enable_shared_from_this<socket_link> {
 public:
  /// Takes one end of a socket pair. `parents` is true if this side sends from the parent's half of
  /// the memory.
  socket_link(descriptor socket, std::shared_ptr<shared_memory> memory, bool parents,
              link_ending at_end = {});

  void open(std::shared_ptr<link_listener> listener) override;
  /// Takes shared memory for blocks of at least `shared_from` bytes, while there is room.
  block allocate(std::size_t size) override;
  /// Throws std::length_error for more than max_message bytes. Ends the link if more than twice
  /// queue_bound and one message wait to be sent.
  void send(block message, priority urgency) override;
  bool full() const override { return full_.load(); }
  void resume() override;
  void close(const std::string& why) override;
  bool needs_checksum() const override { return false; }

  /// The bytes of shared memory in blocks of this side.
  std::size_t shared_bytes() { return outbound_->used(); }
  /// Reports that the other side has gone. The link reads what has arrived, then ends for this
  /// reason.
  void no_more(const std::string& reason);

  // The least size in bytes of a block in shared memory. Shared memory is cheaper than the socket
  // above 16 KiB (bench_links).
  static constexpr std::size_t shared_from = 32 << 10;
  static constexpr std::size_t queue_bound = 64 << 20;
  static constexpr std::size_t piece_max = 64 << 10;
  /// The largest number of bytes that are written while other threads wait for the lock. The loop's
  /// thread writes the rest.
  static constexpr std::size_t burst_max = 256 << 10;
  /// The pause before memory that large messages have left behind is given back to the system.
  static constexpr std::chrono::seconds trim_every{2};

 private:
  struct outgoing {
    socket_header header;
    block message;
    std::size_t sent = 0;  // Bytes of the message.
    // Bytes of header and piece; 0 means that the next piece has not begun.
    std::size_t frame_left = 0;
  };
  struct incoming {
    block message;
    std::size_t filled = 0;
  };

  void ready(std::uint32_t events) override;
  void begin(std::shared_ptr<link_listener> listener);
  void end(const std::string& why);
  void trim_later();

  // These send and require mutex_.
  void flush();
  std::size_t write_some(outgoing& next);
  void wait_for_room(bool wanted);
  void watch();
  void overflow(const std::string& why);
  void stop_sending();

  // These receive, on the loop's thread only.
  void write_more();
  void read(bool to_the_end);
  bool pauses();
  void end_of_file();
  void gone(const std::string& why);
  void parse();
  void begin_frame(const socket_header& header);
  void begin_piece(const socket_header& header);
  void took(std::size_t count);
  void deliver(block message);

  event_loop& loop_;
  const std::shared_ptr<shared_memory> memory_;
  const std::shared_ptr<outbound_arena> outbound_;
  const std::shared_ptr<inbound_arena> inbound_;
  const link_ending at_end_;
  std::atomic<bool> full_{false};
  std::atomic<bool> trims_{false};

  std::mutex mutex_;
  descriptor socket_;            // Closed on the loop's thread only.
  event_loop::key watched_ = 0;  // Set while the socket is watched.
  bool opened_ = false;
  bool sending_ = true;
  bool waits_for_room_ = false;
  bool paused_ = false;  // True if nothing is read, because the listener has no room.
  std::array<std::deque<outgoing>, 2> lines_;  // The normal and the control line.
  std::size_t under_way_ = none;               // The line whose first frame is partly sent.
  std::size_t queued_ = 0;  // The bytes in lines_, including the entries themselves.

  std::shared_ptr<link_listener> listener_;
  std::atomic<bool> closing_{false};  // True if further input is dropped.
  bool ended_ = false;
  bool awaits_reason_ = false;
  std::string reason_;
  std::string why_;
  std::array<std::optional<incoming>, 2> partial_;
  std::size_t reading_ = 0;     // The line of the piece that is being read.
  std::size_t piece_left_ = 0;  // The bytes of this piece that are missing.
  std::array<std::byte, 16 << 10> staging_;
  std::size_t staged_begin_ = 0;
  std::size_t staged_end_ = 0;

  static constexpr std::size_t none = 2;
};

}  // namespace troupe::detail
