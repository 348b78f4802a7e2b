#include "tests/bench/openenv_load.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <latch>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "runtime/base/descriptor.hpp"
#include "tests/actors/openenv/server/raw_websocket.hpp"

namespace troupe::openenv {

namespace {

const std::string step_frames[] = {client_frame(1, R"({"type":"step","data":{"action":0}})"),
                                   client_frame(1, R"({"type":"step","data":{"action":1}})")};
const std::string reset_frame = client_frame(1, R"({"type":"reset","data":{}})");
const std::string close_frame = client_frame(1, R"({"type":"close"})");
const std::string handshake =
    "GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";

/// One session, with one request under way.
class player {
 public:
  explicit player(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int at_once = 1;
    setsockopt(socket_.number(), IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    const timeval patience{.tv_sec = 120, .tv_usec = 0};
    setsockopt(socket_.number(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (::connect(socket_.number(), reinterpret_cast<sockaddr*>(&to), sizeof to) != 0)
      throw std::runtime_error("cannot connect to port " + std::to_string(port));
    send(handshake);
    while (come_.find("\r\n\r\n") == std::string::npos) read_some();
    come_.erase(0, come_.find("\r\n\r\n") + 4);
    send(reset_frame);
    while (!take_reply()) read_some();
  }

  /// Takes its leave.
  ~player() {
    try {
      while (!has_answer_) answer();
      send(close_frame);
    } catch (const std::runtime_error&) {  // it has gone already
    }
  }
  player(const player&) = delete;

  int descriptor() const { return socket_.number(); }

  void ask() { send(is_over_ ? reset_frame : step_frames[++asked_ % 2]); }

  /// Reads what has come: the steps that were answered, 0 or 1.
  int answer() {
    const bool was_over = is_over_;
    read_some();
    return take_reply() && !was_over ? 1 : 0;
  }
  bool has_answer() const { return has_answer_; }

 private:
  void send(const std::string& bytes) {
    has_answer_ = false;
    if (::send(socket_.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(bytes.size()))
      throw std::runtime_error("the server took no request");
  }

  void read_some() {
    char bytes[4096];
    const auto count = ::recv(socket_.number(), bytes, sizeof bytes, 0);
    if (count <= 0) throw std::runtime_error("the server has closed, or was silent for 120 s");
    come_.append(bytes, static_cast<std::size_t>(count));
  }

  /// Takes one whole text off what has come. Replies are short, so their length is 7 or 16 bits.
  bool take_reply() {
    if (come_.size() < 4) return false;
    std::size_t header = 2, length = come_[1] & 0x7F;
    if (length == 126) {
      header = 4;
      length = static_cast<std::size_t>(static_cast<std::uint8_t>(come_[2])) << 8 |
               static_cast<std::uint8_t>(come_[3]);
    }
    if (come_.size() < header + length) return false;
    const std::string_view text(come_.data() + header, length);
    if (text.find("\"observation\"") == text.npos)
      throw std::runtime_error("the server says " + std::string(text));
    is_over_ = text.find("\"done\":true") != text.npos;
    come_.erase(0, header + length);
    has_answer_ = true;
    return true;
  }

  troupe::detail::descriptor socket_;
  std::string come_;
  bool is_over_ = false;
  bool has_answer_ = false;
  unsigned asked_ = 0;
};

/// Waits for nobody but the one session.
void play_alone(player& one, int steps) {
  for (int taken = 0; taken < steps;) {
    one.ask();
    do taken += one.answer();
    while (!one.has_answer());
  }
}

void play_together(std::vector<std::unique_ptr<player>>& all, int steps) {
  const troupe::detail::descriptor waiting(::epoll_create1(0));
  for (auto& each : all) {
    epoll_event event{.events = EPOLLIN, .data = {.ptr = each.get()}};
    ::epoll_ctl(waiting.number(), EPOLL_CTL_ADD, each->descriptor(), &event);
    each->ask();
  }
  std::vector<epoll_event> ready(all.size());
  for (int taken = 0; taken < steps;) {
    const int count =
        ::epoll_wait(waiting.number(), ready.data(), static_cast<int>(ready.size()), -1);
    for (int i = 0; i < count; ++i) {
      auto& one = *static_cast<player*>(ready[static_cast<std::size_t>(i)].data.ptr);
      taken += one.answer();
      if (one.has_answer()) one.ask();
    }
  }
}

}  // namespace

double steps_per_second(std::uint16_t port, int sessions, int steps) {
  std::vector<std::unique_ptr<player>> all;
  for (int i = 0; i < sessions; ++i) all.push_back(std::make_unique<player>(port));
  const auto began = std::chrono::steady_clock::now();
  if (sessions == 1)
    play_alone(*all.front(), steps);
  else
    play_together(all, steps);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - began;
  return steps / time.count();
}

int failures_at_once(std::uint16_t port, int clients) {
  std::latch all_here(clients), all_done(clients);
  std::atomic<int> failed{0};
  const auto come = [&] {
    std::unique_ptr<player> one;
    all_here.arrive_and_wait();
    try {
      one = std::make_unique<player>(port);
      play_alone(*one, 1);
    } catch (const std::runtime_error& e) {
      if (++failed == 1) std::printf("  a client of %d at once failed: %s\n", clients, e.what());
    }
    all_done.arrive_and_wait();
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < clients; ++i) threads.emplace_back(come);
  }
  return failed;
}

}  // namespace troupe::openenv
