#include "tests/actors/openenv/client/fake_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/evp.h>
#include <sys/socket.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace troupe::openenv {

namespace {

std::string base64(const unsigned char* bytes, std::size_t count) {
  std::string text(4 * ((count + 2) / 3) + 1, '\0');
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes,
                                     static_cast<int>(count));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

/// RFC 6455, 4.2.2.
std::string accept_key(const std::string& key) {
  const std::string text = key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  EVP_Digest(text.data(), text.size(), digest, &length, EVP_sha1(), nullptr);
  return base64(digest, length);
}

std::string header(const std::string& head, std::string name) {
  std::string lower = head;
  const auto low = [](std::string& s) {
    std::ranges::transform(s, s.begin(), [](unsigned char c) { return std::tolower(c); });
  };
  low(lower);
  low(name);
  const auto at = lower.find("\r\n" + name + ": ");
  if (at == lower.npos) return {};
  const auto begin = at + name.size() + 4;
  return head.substr(begin, head.find("\r\n", begin) - begin);
}

bool write_all(int socket, const std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const auto sent = ::send(socket, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    done += static_cast<std::size_t>(sent);
  }
  return true;
}

}  // namespace

bool fake_connection::read(char* to, std::size_t count) {
  return ::recv(socket_, to, count, MSG_WAITALL) == static_cast<ssize_t>(count);
}

std::string fake_connection::receive() {
  for (;;) {
    unsigned char head[2];
    if (!read(reinterpret_cast<char*>(head), 2)) return {};
    std::uint64_t length = head[1] & 0x7f;
    if (length >= 126) {
      unsigned char more[8];
      const int bytes = length == 126 ? 2 : 8;
      if (!read(reinterpret_cast<char*>(more), static_cast<std::size_t>(bytes))) return {};
      length = 0;
      for (int i = 0; i < bytes; ++i) length = length << 8 | more[i];
    }
    char mask[4];
    if (!read(mask, 4)) return {};
    std::string payload(length, '\0');
    if (length > 0 && !read(payload.data(), payload.size())) return {};
    for (std::size_t i = 0; i < payload.size(); ++i) payload[i] ^= mask[i % 4];
    const int opcode = head[0] & 0x0f;
    if (opcode == 0x8) {
      send_frame(0x88, payload);
      return {};
    }
    if (opcode == 0x9) send_frame(0x8a, payload);
    if (opcode <= 0x2) return payload;
  }
}

void fake_connection::send_head(std::uint8_t head, std::uint64_t payload) {
  std::string bytes(1, static_cast<char>(head));
  if (payload < 126) {
    bytes += static_cast<char>(payload);
  } else {
    const int count = payload < 65536 ? 2 : 8;
    bytes += static_cast<char>(count == 2 ? 126 : 127);
    for (int i = count - 1; i >= 0; --i) bytes += static_cast<char>(payload >> (8 * i));
  }
  send_raw(bytes);
}

void fake_connection::send_frame(std::uint8_t head, const std::string& payload) {
  std::string bytes(1, static_cast<char>(head));
  if (payload.size() < 126) {
    send_raw(bytes + static_cast<char>(payload.size()) + payload);
  } else {
    send_head(head, payload.size());
    send_raw(payload);
  }
}

void fake_connection::send_close(std::uint16_t code, const std::string& reason) {
  std::string payload{static_cast<char>(code >> 8), static_cast<char>(code)};
  send_frame(0x88, payload + reason);
}

bool fake_connection::send_raw(const std::string& bytes) { return write_all(socket_, bytes); }

fake_server::fake_server(behaviour how, std::uint16_t port)
    : how_(std::move(how)),
      listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "open a socket") {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  const int on = 1;
  ::setsockopt(listener_.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  socklen_t size = sizeof address;
  auto* as_any = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener_.number(), as_any, size) != 0 || ::listen(listener_.number(), 1024) != 0 ||
      ::getsockname(listener_.number(), as_any, &size) != 0) {
    throw std::runtime_error("the fake server could not listen");
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { accept_all(); });
}

fake_server::~fake_server() {
  stopping_ = true;
  ::shutdown(listener_.number(), SHUT_RDWR);
  thread_.join();
  for (auto& who : guests_) ::shutdown(who.socket.number(), SHUT_RDWR);
  for (auto& who : guests_) who.thread.join();
}

void fake_server::accept_all() {
  while (!stopping_) {
    const int number = ::accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC);
    if (number < 0) continue;
    const int on = 1;
    ::setsockopt(number, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    guests_.remove_if([](guest& who) {
      if (!who.gone) return false;
      who.thread.join();
      return true;
    });
    auto& who = guests_.emplace_back();
    who.socket = troupe::detail::descriptor(number);
    who.thread = std::thread([this, &who] {
      const int client = who.socket.number();
      how_.front ? serve_behind_front(client) : serve(client);
      ::shutdown(who.socket.number(), SHUT_RDWR);
      who.gone = true;
    });
  }
}

void fake_server::serve_behind_front(int client) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
  const troupe::detail::descriptor mine(ends[0]), theirs(ends[1]);
  std::thread front([&] {
    how_.front(client, theirs.number());
    ::shutdown(theirs.number(), SHUT_RDWR);
  });
  serve(mine.number());
  ::shutdown(mine.number(), SHUT_RDWR);
  front.join();
}

void fake_server::serve(int socket) {
  std::string head;
  while (!head.ends_with("\r\n\r\n")) {
    char c;
    if (head.size() > 8192 || ::recv(socket, &c, 1, 0) != 1) return;
    head += c;
  }
  {
    const std::lock_guard lock(mutex_);
    heads_.push_back(head);
  }
  const auto path_at = head.find(' ') + 1;
  const fake_request asked{
      head.substr(0, path_at - 1), head.substr(path_at, head.find(' ', path_at) - path_at), {}};
  const auto key = header(head, "Sec-WebSocket-Key");
  if (!key.empty() && how_.session) {
    ++accepted_;
    write_all(socket,
              "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
              "Sec-WebSocket-Accept: " +
                  accept_key(key) + "\r\n\r\n");
    fake_connection connection(socket);
    return how_.session(connection);
  }
  fake_request whole = asked;
  const auto length = header(head, "Content-Length");
  whole.body.resize(length.empty() ? 0 : std::stoul(length));
  if (!whole.body.empty()) ::recv(socket, whole.body.data(), whole.body.size(), MSG_WAITALL);
  auto [status, body] = how_.http && key.empty()
                            ? how_.http(whole)
                            : std::pair<int, std::string>(404, R"({"detail":"Not Found"})");
  write_all(socket, "HTTP/1.1 " + std::to_string(status) +
                        " Any\r\nContent-Type: application/json\r\nConnection: close\r\n"
                        "Content-Length: " +
                        std::to_string(body.size()) + "\r\n\r\n" + body);
}

}  // namespace troupe::openenv
