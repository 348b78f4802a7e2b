#include "runtime/cluster/frame.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>

#include "runtime/cluster/checksum.hpp"
#include "runtime/remote/link.hpp"

namespace troupe::detail {

namespace {

static_assert(std::endian::native == std::endian::little,
              "frames are copied as they lie in memory");

constexpr std::size_t checksum_at = 40;

template <class N>
void put(std::byte* at, N value) {
  std::memcpy(at, &value, sizeof value);
}

template <class N>
N get(const std::byte* at) {
  N value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

std::uint64_t checksum_of(const std::byte* header, std::span<const std::byte> payload) {
  return checksum(payload.data(), payload.size(), checksum(header, checksum_at, 0));
}

}  // namespace

void write_header(const frame_header& header, std::span<const std::byte> payload, std::byte* to) {
  put(to, static_cast<std::uint32_t>(payload.size()));
  put(to + 4, header.kind);
  put(to + 5, static_cast<std::uint8_t>(header.lane));
  put(to + 6, std::uint16_t{0});
  put(to + 8, header.sequence);
  put(to + 16, header.sender.bits);
  put(to + 32, header.message_size);
  put(to + checksum_at, checksum_of(to, payload));
}

frame_reader::frame_reader(const incarnation& sender, std::size_t message_size_max,
                           std::shared_ptr<block_pool> memory)
    : sender_(sender), message_size_max_(message_size_max), memory_(std::move(memory)) {
  if (message_size_max > max_message) {
    throw std::invalid_argument("frame_reader: expected messages of at most " +
                                std::to_string(max_message) + " bytes, got " +
                                std::to_string(message_size_max));
  }
}

bool frame_reader::refuse(std::string why) {
  fault_ = std::move(why);
  return false;
}

bool frame_reader::read(std::span<const std::byte> bytes, frame_sink& to) {
  if (!fault_.empty()) return false;
  while (!bytes.empty()) {
    const bool in_header = header_filled_ < frame_header_size;
    std::byte* const into =
        in_header ? header_bytes_.data() + header_filled_ : payload_ + payload_filled_;
    std::size_t& filled = in_header ? header_filled_ : payload_filled_;
    const std::size_t whole = in_header ? frame_header_size : header_.payload_size;
    const auto n = std::min(bytes.size(), whole - filled);
    if (n > 0) std::memcpy(into, bytes.data(), n);
    filled += n;
    bytes = bytes.subspan(n);
    if (in_header && header_filled_ == frame_header_size && !begin_frame()) return false;
    if (header_filled_ == frame_header_size && payload_filled_ == header_.payload_size) {
      if (!end_frame(to)) return false;
    }
  }
  return true;
}

bool frame_reader::begin_frame() {
  const auto* const at = header_bytes_.data();
  header_.payload_size = get<std::uint32_t>(at);
  header_.kind = get<frame_kind>(at + 4);
  header_.lane = static_cast<priority>(get<std::uint8_t>(at + 5));
  header_.sequence = get<std::uint64_t>(at + 8);
  header_.sender.bits = get<decltype(incarnation::bits)>(at + 16);
  header_.message_size = get<std::uint64_t>(at + 32);
  checksum_ = get<std::uint64_t>(at + checksum_at);
  payload_filled_ = 0;

  if (header_.sender != sender_) {
    return refuse("a frame of another incarnation: expected " + to_string(sender_) + ", got " +
                  to_string(header_.sender));
  }
  if (header_.sequence != next_sequence_) {
    return refuse("a frame out of sequence: expected number " + std::to_string(next_sequence_) +
                  ", got " + std::to_string(header_.sequence));
  }
  const auto lane_number = static_cast<std::size_t>(header_.lane);
  if (lane_number > 1 || get<std::uint16_t>(at + 6) != 0) {
    return refuse("a frame with a malformed header");
  }
  const bool is_message = header_.kind == frame_kind::message;
  const std::size_t payload_max = is_message ? frame_payload_max : note_.size();
  if (header_.payload_size > payload_max) {
    return refuse("a frame of " + std::to_string(header_.payload_size) +
                  " bytes: expected at most " + std::to_string(payload_max));
  }
  if (is_message) return begin_message(lane());
  payload_ = note_.data();
  return true;
}

bool frame_reader::begin_message(partial& of) {
  if (!of.begun) {
    if (header_.message_size > message_size_max_) {
      return refuse("a message of " + std::to_string(header_.message_size) +
                    " bytes: expected at most " + std::to_string(message_size_max_));
    }
    of = {memory_->allocate(header_.message_size), 0, true};
  } else if (of.message.size() != header_.message_size) {
    return refuse("a frame of another message than the one under way");
  }
  const auto left = of.message.size() - of.filled;
  if (header_.payload_size > left || (header_.payload_size == 0 && left > 0)) {
    return refuse("a frame that does not fit its message: expected 1 to " + std::to_string(left) +
                  " bytes, got " + std::to_string(header_.payload_size));
  }
  payload_ = of.message.data() + of.filled;
  return true;
}

bool frame_reader::end_frame(frame_sink& to) {
  const std::span<const std::byte> payload(payload_, header_.payload_size);
  if (checksum_of(header_bytes_.data(), payload) != checksum_) {
    return refuse("a frame with a wrong checksum");
  }
  ++next_sequence_;
  header_filled_ = 0;
  const auto number = [&] { return payload.size() == 8 ? get<std::uint64_t>(payload.data()) : 0; };
  switch (header_.kind) {
    case frame_kind::message: {
      auto& of = lane();
      of.filled += payload.size();
      if (of.filled < of.message.size()) return true;
      of.begun = false;
      to.message_read(std::move(of.message));
      return true;
    }
    case frame_kind::ping:
      to.ping_read(number());
      return true;
    case frame_kind::pong:
      to.pong_read(number());
      return true;
    case frame_kind::end:
      to.end_read({reinterpret_cast<const char*>(payload.data()), payload.size()});
      return true;
  }
  return refuse("a frame of an unknown kind: " +
                std::to_string(static_cast<unsigned>(header_.kind)));
}

}  // namespace troupe::detail
