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

#include "runtime/process/arena.hpp"
#include "runtime/process/event_loop.hpp"
#include "runtime/remote/link.hpp"

namespace troupe::detail {

/// What goes before the bytes on the socket. Both ends are the same binary on one machine.
struct socket_header {
  enum class kind : std::uint8_t {
    piece,  ///< `length` bytes follow: the next ones of a message that has `total`.
    shared  ///< `total` bytes are in the sender's half of the shared memory, at `offset`.
  };
  static constexpr std::uint8_t magic = 0xa7;

  std::uint8_t mark = magic;
  kind what = kind::piece;
  std::uint8_t line = 0;  ///< 0: normal, 1: control. A message's pieces are on one line.
  std::uint8_t unused = 0;
  std::uint32_t length = 0;
  std::uint64_t total = 0;
  std::uint64_t offset = 0;
};
static_assert(sizeof(socket_header) == 24);

/// How a link ends when the other side has gone.
struct link_ending {
  std::string why = "the other side has closed the link";
  /// How long the link may wait for `no_more` to say it better.
  std::chrono::milliseconds reason_within{0};
  std::function<void()> after = {};  ///< On the link's thread, after the listener heard it.
};

/// A link over a Unix stream socket and shared memory. `send` writes at once, on the caller's
/// thread, unless others wait before it; then the io loop's thread writes. Blocks that `allocate`
/// took from the shared memory are sent as 24 bytes. Control overtakes between pieces of 64 KiB.
///
/// Once open it lives until the other side has gone or does not read, or `close` was called.
class socket_link final : public link,
                          public event_loop::handler,
                          public std::enable_shared_from_this<socket_link> {
 public:
  /// One end of a socket pair. `parents`: which half of the memory this side sends from.
  socket_link(descriptor socket, std::shared_ptr<shared_memory> memory, bool parents,
              link_ending at_end = {});

  void open(std::shared_ptr<link_listener> listener) override;
  /// Shared memory from `shared_from` bytes on, while there is room.
  block allocate(std::size_t size) override;
  /// Throws std::length_error for more than max_message bytes. Ends the link where more than twice
  /// queue_bound and a message waits.
  void send(block message, priority urgency) override;
  bool full() const override { return full_.load(); }
  void close(const std::string& why) override;
  bool needs_checksum() const override { return false; }

  /// Bytes of shared memory that blocks of this side hold.
  std::size_t shared_bytes() { return outbound_->used(); }
  /// The other side has gone: what has come from it is read, then the link ends for this reason.
  void no_more(const std::string& reason);

  static constexpr std::size_t shared_from =
      32 << 10;  // cheaper than the socket above 16 KiB (bench_links)
  static constexpr std::size_t queue_bound = 64 << 20;
  static constexpr std::size_t piece_max = 64 << 10;
  /// Written while others wait for the lock, at most; the rest by the loop's thread.
  static constexpr std::size_t burst_max = 256 << 10;
  /// How often memory that large messages have left behind is given back to the system.
  static constexpr std::chrono::seconds trim_every{2};

 private:
  struct outgoing {
    socket_header header;
    block message;
    std::size_t sent = 0;        // of the message
    std::size_t frame_left = 0;  // of header and piece; 0: the next piece has not begun
  };
  struct incoming {
    block message;
    std::size_t filled = 0;
  };

  void ready(std::uint32_t events) override;
  void begin(std::shared_ptr<link_listener> listener);
  void end(const std::string& why);
  void trim_later();

  // Sending; the lock is held.
  void overflow();
  void flush();
  std::size_t write_some(outgoing& next);
  void wait_for_room(bool wanted);
  void stop_sending();

  // Receiving, on the loop's thread alone.
  void write_more();
  void read();
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
  descriptor socket_;            // closed on the loop's thread alone
  event_loop::key watched_ = 0;  // set while it is watched
  bool opened_ = false;
  bool sending_ = true;
  bool waits_for_room_ = false;
  std::array<std::deque<outgoing>, 2> lines_;  // normal, control
  std::size_t under_way_ = none;               // the line of whose first frame a part is sent
  std::size_t queued_ = 0;                     // bytes, with what keeps them

  std::shared_ptr<link_listener> listener_;
  std::atomic<bool> closing_{false};  // what still comes is dropped
  bool ended_ = false;
  bool awaits_reason_ = false;
  std::string reason_;
  std::string why_;
  std::array<std::optional<incoming>, 2> partial_;
  std::size_t reading_ = 0;     // the line of the piece that is read
  std::size_t piece_left_ = 0;  // bytes of it to come
  std::array<std::byte, 16 << 10> staging_;
  std::size_t staged_begin_ = 0;
  std::size_t staged_end_ = 0;

  static constexpr std::size_t none = 2;
};

}  // namespace troupe::detail
