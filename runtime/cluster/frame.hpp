#pragma once
// The frames of a stream between two processes. Numbers are little-endian.
//
//   header, 48 bytes: payload size u32 | kind u8 | lane u8 | 0 u16 | sequence number u64 |
//                     sender's incarnation, 16 bytes | size of the whole message u64 | checksum u64
//   payload:          a message's next bytes, a ping's number, or why the link ends
//
// The checksum is the XXH3 of the payload, seeded with the XXH3 of the header before it. A long
// message is cut into frames, so that frames of the other lane, pings and pongs get between them.

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "runtime/actor/inbox.hpp"
#include "runtime/cluster/block_pool.hpp"
#include "runtime/cluster/incarnation.hpp"
#include "runtime/wire/block.hpp"

namespace troupe::detail {

enum class frame_kind : std::uint8_t { message = 1, ping = 2, pong = 3, end = 4 };

struct frame_header {
  frame_kind kind = frame_kind::message;
  priority lane = priority::normal;
  std::uint64_t sequence = 0;  ///< Counts the sender's frames on this link, from 0.
  incarnation sender;
  std::uint64_t message_size = 0;  ///< Set for a message only.
  /// Set for a frame that was read; written frames use the size of their payload.
  std::uint32_t payload_size = 0;
};

constexpr std::size_t frame_header_size = 48;
/// The largest payload of a frame in bytes.
constexpr std::size_t frame_payload_max = std::size_t{1} << 20;

/// Writes the header of a frame with that payload, including its checksum. `to` must have room for
/// frame_header_size bytes.
void write_header(const frame_header& header, std::span<const std::byte> payload, std::byte* to);

/// Receives what a frame_reader reads.
class frame_sink {
 public:
  /// Called with a whole message.
  virtual void message_read(block message) = 0;
  virtual void ping_read(std::uint64_t number) = 0;
  virtual void pong_read(std::uint64_t number) = 0;
  /// Called when the sender ends the link.
  virtual void end_read(std::string why) = 0;

 protected:
  ~frame_sink() = default;
};

/// Assembles messages from the bytes of a stream, whatever the parts in which they come.
class frame_reader {
 public:
  /// Expects the frames of `sender`. Throws std::invalid_argument if `message_size_max` is above
  /// max_message.
  frame_reader(const incarnation& sender, std::size_t message_size_max,
               std::shared_ptr<block_pool> memory = std::make_shared<block_pool>());

  /// Reads the next bytes of the stream. Returns false if a frame isn't what must come next:
  /// `fault` says why, and nothing more may be read.
  bool read(std::span<const std::byte> bytes, frame_sink& to);
  const std::string& fault() const { return fault_; }

 private:
  struct partial {
    block message;
    std::size_t filled = 0;
    bool begun = false;
  };

  bool begin_frame();
  bool begin_message(partial& of);
  bool end_frame(frame_sink& to);
  bool refuse(std::string why);
  partial& lane() { return partials_[static_cast<std::size_t>(header_.lane)]; }

  incarnation sender_;
  std::size_t message_size_max_;
  std::shared_ptr<block_pool> memory_;
  std::uint64_t next_sequence_ = 0;
  std::string fault_;

  std::array<std::byte, frame_header_size> header_bytes_;
  std::size_t header_filled_ = 0;
  frame_header header_;
  std::uint64_t checksum_ = 0;    ///< The checksum in the header.
  std::byte* payload_ = nullptr;  ///< The destination of this frame's payload.
  std::size_t payload_filled_ = 0;
  std::array<std::byte, 1024> note_;  ///< The payload of a frame that isn't a message.
  partial partials_[2];               ///< Indexed by lane.
};

}  // namespace troupe::detail
