#pragma once
// The texts before a link, on a socket that waits. Written out here, so that the tests hold the
// product to the format.

#include <boost/asio/buffer.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

namespace troupe::detail::testing {

inline const std::string raw_magic = "troupe/1";

/// A text as it goes over the wire: its size, u32 in little-endian order, and its bytes.
inline std::string framed_text(const std::string& text) {
  const auto size = static_cast<std::uint32_t>(text.size());
  return std::string(reinterpret_cast<const char*>(&size), sizeof size) + text;
}

/// False if the other side has closed.
template <class Stream>
bool write_bytes(Stream& to, const std::string& bytes) {
  boost::system::error_code error;
  boost::asio::write(to, boost::asio::buffer(bytes), error);
  return !error;
}

/// Nothing if the other side closes before.
template <class Stream>
std::optional<std::string> read_bytes(Stream& from, std::size_t count) {
  std::string bytes(count, '\0');
  boost::system::error_code error;
  boost::asio::read(from, boost::asio::buffer(bytes), error);
  if (error) return {};
  return bytes;
}

/// Reads a text, after the magic if it is the first one.
template <class Stream>
std::optional<std::string> read_text(Stream& from, bool first) {
  if (first && read_bytes(from, raw_magic.size()) != raw_magic) return {};
  const auto head = read_bytes(from, sizeof(std::uint32_t));
  if (!head) return {};
  std::uint32_t size;
  std::memcpy(&size, head->data(), sizeof size);
  return read_bytes(from, size);
}

}  // namespace troupe::detail::testing
