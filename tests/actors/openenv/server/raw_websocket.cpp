#include "tests/actors/openenv/server/raw_websocket.hpp"

#include <stdexcept>

namespace troupe {

namespace {

constexpr char mask[] = {0x5A, 0x17, 0x3C, 0x21};

std::size_t big_endian(std::string_view bytes) {
  std::size_t number = 0;
  for (const char byte : bytes) number = number << 8 | static_cast<std::uint8_t>(byte);
  return number;
}

}  // namespace

std::string client_frame(std::uint8_t opcode, std::string_view payload, bool is_final) {
  std::string bytes;
  bytes += static_cast<char>((is_final ? 0x80 : 0) | opcode);
  const auto add_length = [&](int marker, int size) {
    bytes += static_cast<char>(0x80 | marker);
    for (int shift = 8 * (size - 1); shift >= 0; shift -= 8)
      bytes += static_cast<char>(payload.size() >> shift & 0xFF);
  };
  if (payload.size() < 126)
    bytes += static_cast<char>(0x80 | payload.size());
  else if (payload.size() < 65'536)
    add_length(126, 2);
  else
    add_length(127, 8);
  bytes.append(mask, sizeof mask);
  for (std::size_t i = 0; i < payload.size(); ++i)
    bytes += static_cast<char>(payload[i] ^ mask[i % sizeof mask]);
  return bytes;
}

int server_frame::close_code() const {
  return opcode == 8 && payload.size() >= 2 ? static_cast<int>(big_endian(payload.substr(0, 2)))
                                            : 0;
}

raw_websocket::raw_websocket(std::uint16_t port, const std::string& path, const std::string& fields)
    : connection_(port) {
  connection_.send("GET " + path +
                   " HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                   "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n" +
                   fields + "\r\n");
  auto end = std::string::npos;
  while ((end = come_.find("\r\n\r\n")) == std::string::npos) {
    if (!connection_.read_more(come_)) break;
  }
  if (!come_.starts_with("HTTP/1.1 101 ")) throw std::runtime_error("no WebSocket: " + come_);
  come_.erase(0, end + 4);
}

bool raw_websocket::need(std::size_t bytes) {
  while (come_.size() < bytes) {
    if (!connection_.read_more(come_)) return false;
  }
  return true;
}

server_frame raw_websocket::read() {
  if (!need(2)) return {};
  std::size_t header = 2;
  std::size_t length = come_[1] & 0x7F;
  if (length >= 126) {
    header += length == 126 ? 2 : 8;
    if (!need(header)) return {};
    length = big_endian(std::string_view(come_).substr(2, header - 2));
  }
  if (!need(header + length)) return {};
  server_frame frame{come_[0] & 0x0F, come_.substr(header, length)};
  come_.erase(0, header + length);
  return frame;
}

std::string raw_websocket::read_text() {
  auto frame = read();
  if (frame.opcode == 1) return std::move(frame.payload);
  throw std::runtime_error("expected a text, got a frame of opcode " +
                           std::to_string(frame.opcode) + " with \"" + frame.payload + '"');
}

int raw_websocket::read_close_code() {
  for (;;) {
    const auto frame = read();
    if (frame.opcode == 8) return frame.close_code();
    if (frame.opcode < 0) return 0;
  }
}

void raw_websocket::close() {
  send_bytes(client_frame(8, "\x03\xe8"));
  finish();
  while (read().opcode >= 0) {
  }
}

}  // namespace troupe
