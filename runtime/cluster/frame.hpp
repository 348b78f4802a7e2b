#pragma once
// What a stream between two processes is made of. Numbers are little-endian.
//
//   header, 48 bytes: payload size u32 | kind u8 | lane u8 | 0 u16 | sequence number u64 |
//                     sender's incarnation, 16 bytes | size of the whole message u64 | checksum u64
//   payload:          a message's next bytes, a ping's number, or why the link ends
//
// The checksum is XXH3 of the payload, seeded with that of the header before it. A long message is
// cut into frames, so that those of the other lane, pings and pongs get between them.

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
  std::uint64_t message_size = 0;  ///< Of a message alone.
  std::uint32_t payload_size = 0;  ///< Of a frame that was read; what is written has its own.
};

constexpr std::size_t frame_header_size = 48;
/// No frame's payload is longer.
constexpr std::size_t frame_payload_max = std::size_t{1} << 20;

/// Writes the header of a frame with that payload, its checksum with it. The result has
/// frame_header_size bytes.
void write_header(const frame_header& header, std::span<const std::byte> payload, std::byte* to);

/// What a frame_reader finds.
class frame_sink {
 public:
  /// A message, whole.
  virtual void message_read(block message) = 0;
  virtual void ping_read(std::uint64_t number) = 0;
  virtual void pong_read(std::uint64_t number) = 0;
  /// The sender ends the link.
  virtual void end_read(std::string why) = 0;

 protected:
  ~frame_sink() = default;
};

/// Puts messages together from the bytes of a stream, however these are cut.
class frame_reader {
 public:
  /// `sender` is whose frames are expected. Throws std::invalid_argument where
  /// `message_size_max` is above max_message.
  frame_reader(const incarnation& sender, std::size_t message_size_max,
               std::shared_ptr<block_pool> memory = std::make_shared<block_pool>());

  /// The next bytes of the stream. False for a frame that is not what has to come next: `fault`
  /// says why, and nothing more may be read.
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
  std::uint64_t checksum_ = 0;    ///< As the header says it.
  std::byte* payload_ = nullptr;  ///< Where this frame's goes.
  std::size_t payload_filled_ = 0;
  std::array<std::byte, 1024> note_;  ///< The payload of what is no message.
  partial partials_[2];               ///< By lane.
};

}  // namespace troupe::detail
