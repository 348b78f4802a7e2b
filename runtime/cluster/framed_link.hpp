#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/cluster/frame.hpp"
#include "runtime/cluster/heartbeat.hpp"
#include "runtime/cluster/send_queue.hpp"
#include "runtime/cluster/transport.hpp"
#include "runtime/remote/link.hpp"

namespace troupe::detail {

/// How often each side of a link looks at its deadlines.
inline constexpr std::chrono::milliseconds link_tick(250);
/// The time to tell the other side the end of a link.
inline constexpr std::chrono::milliseconds link_farewell(500);

struct link_options {
  std::chrono::milliseconds ping_every{1000};
  /// The silence after which a peer is lost. While this side reads nothing, the time without an
  /// acknowledgement by the other machine counts instead.
  std::chrono::milliseconds lost_after{5000};
  /// The bytes waiting to be sent above which the link is full.
  std::size_t queue_bytes_max = std::size_t{64} << 20;
  /// The largest payload of a frame in bytes; longer messages are cut.
  std::size_t frame_payload = std::size_t{256} << 10;
  std::size_t message_bytes_max = max_message;
};

/// A link over a stream of bytes. Its events come on the transport's threads, and on the thread
/// that calls `resume`. Nothing is read while a listener is in `received` or has no room, so a slow
/// listener slows the sender down.
///
///   open -> closing (the end is told to the other side, who ends the stream) -> ended -> gone
///     `------ the stream broke, a wrong frame came, or nothing for too long -----^
class framed_link final : public link,
                          public std::enable_shared_from_this<framed_link>,
                          private frame_sink {
 public:
  /// `own` and `other` are the incarnations of the two sides.
  framed_link(const link_options& options, const incarnation& own, const incarnation& other,
              std::shared_ptr<transport> stream);

  void open(std::shared_ptr<link_listener> listener) override;
  /// Throws std::length_error for a message longer than `message_bytes_max`.
  void send(block message, priority urgency) override;
  block allocate(std::size_t size) override { return memory_->allocate(size); }
  bool full() const override;
  void resume() override;
  void close(const std::string& why) override;
  bool needs_checksum() const override { return false; }  // The frames have a checksum.

  /// Does what is due at `now`: it sends pings, notices a lost peer, and ends a link that doesn't
  /// end by itself. Call it a few times a second.
  void tick(std::chrono::steady_clock::time_point now);
  /// Ends the link at once and tells the other side nothing. Unlike after `close`, no tick is
  /// needed.
  void abandon(const std::string& why);
  /// True if nothing can be sent any more.
  bool has_ended() const;
  /// Sets an action that is called once, when the stream has ended. Set it before anything else is
  /// done.
  void when_gone(std::function<void()> action) { when_gone_ = std::move(action); }

  // The transport calls these.
  void arrived(std::span<const std::byte> bytes);
  void read_failed();
  void written(bool ok);
  /// Ends the link, even if nobody reads or writes.
  void broken();
  /// The stream has ended. `why` is the reason if the transport knows one.
  void gone(const std::string& why);

 private:
  using lock = std::unique_lock<std::mutex>;

  void message_read(block message) override { batch_.push_back(std::move(message)); }
  void ping_read(std::uint64_t number) override;
  void pong_read(std::uint64_t) override {}
  void end_read(std::string why) override;

  void write_next(lock& held);
  bool write(std::vector<outgoing_frame> frames);
  void end(lock& held, const std::string& why);
  void finish_if_idle(lock& held);
  void say_events(lock& held);

  const link_options options_;
  const incarnation own_;
  const std::shared_ptr<transport> stream_;
  const std::shared_ptr<block_pool> memory_ = std::make_shared<block_pool>();
  std::function<void()> when_gone_;

  // Used by the reader, one at a time.
  frame_reader reader_;
  std::vector<block> batch_;  ///< The messages of the last read.
  std::string end_told_;      ///< The reason with which the other side ends the link.

  // Used by the writer, one at a time.
  std::uint64_t next_sequence_ = 0;
  std::vector<std::byte> staging_;
  std::vector<written_piece> pieces_;

  mutable std::mutex mutex_;  // Guards everything below.
  send_queue queue_;
  heartbeat heartbeat_;
  std::shared_ptr<link_listener> listener_;
  bool writing_ = false;
  bool reading_ = false;
  bool heard_ = true;
  bool was_full_ = false;
  bool closing_ = false;
  /// The time of the first tick after closing began.
  std::optional<std::chrono::steady_clock::time_point> closing_since_;
  bool ended_ = false;      ///< No read or write is begun any more.
  bool cancelled_ = false;  ///< The transport has been told to cancel.
  bool finished_ = false;   ///< The transport has been told that nothing is under way.

  // The events that the listener has not been told yet, and whether a thread is telling them.
  bool saying_ = false;
  std::vector<block> received_;
  /// The next read begins once these messages no longer stand in its way.
  bool read_next_ = false;
  bool writable_ = false;
  bool gone_ = false;
  std::string why_;
};

}  // namespace troupe::detail
