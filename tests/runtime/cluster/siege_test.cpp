// What comes to the port that is no peer, and a peer that stops.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <ctime>

#include "runtime/actor/splitmix.hpp"
#include "runtime/base/descriptor.hpp"
#include "runtime/base/sanitizers.hpp"
#include "runtime/cluster/certificates.hpp"
#include "runtime/cluster/stream_listener.hpp"
#include "runtime/metrics/registry.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/resident_memory.hpp"
#include "tests/runtime/cluster/cluster.hpp"
#include "tests/runtime/cluster/raw_joiner.hpp"
#include "tests/runtime/cluster/raw_socket.hpp"

namespace troupe::detail::testing {
namespace {

descriptor connect_to(std::uint16_t port) {
  descriptor made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in to{
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
  if (::connect(made.number(), reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) {
    throw std::runtime_error("cannot connect");
  }
  return made;
}

void send_to(const descriptor& at, const std::string& bytes) {
  REQUIRE(::send(at.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
          static_cast<ssize_t>(bytes.size()));
}

/// Sends as much of the bytes as the two sides' kernels take.
void send_what_fits(const descriptor& at, const std::string& bytes) {
  (void)!::send(at.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/// Reads until the other side has closed.
bool is_closed(const descriptor& at) {
  const timeval limit{.tv_sec = 20, .tv_usec = 0};
  ::setsockopt(at.number(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  char bytes[4096];
  for (;;) {
    const auto n = ::recv(at.number(), bytes, sizeof bytes, 0);
    if (n == 0 || (n < 0 && errno != EAGAIN)) return true;
    if (n < 0) return false;
  }
}

TEST_CASE("siege: garbage is closed and counted, while a peer goes on") {
  metrics_registry metrics;
  controller_side controller({.metrics = &metrics});
  node_side node(controller.address(), "gpu-1");
  const auto here = controller.joined.made.take();
  const auto there = node.joined.made.take();
  std::uint64_t seed = 1;
  constexpr int count = 200;
  for (int i = 0; i < count; ++i) {
    const auto way = connect_to(controller.server.port());
    // Every fourth begins as HTTP/2 does, and another one as a peer of this protocol.
    std::string bytes;
    if (i % 4 == 0) bytes = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    if (i % 4 == 1) bytes = raw_magic + "\xff\xff\xff\xff";
    for (int n = 0; n < 500; ++n) bytes += static_cast<char>(next_of(seed));
    (void)!::send(way.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    ::shutdown(way.number(), SHUT_WR);
    CHECK(is_closed(way));
  }
  CHECK(are_refused(metrics, "garbage", count));
  there.way->send(block_of("still here"), priority::normal);
  CHECK(text_of(here.heard->messages.take()) == "still here");
}

TEST_CASE("siege: a thousand silent connections keep no peer out, and are closed") {
  metrics_registry metrics;
  controller_side controller({.hello_within = 500ms, .metrics = &metrics});
  std::vector<descriptor> silent;
  for (int i = 0; i < 1000; ++i) silent.push_back(connect_to(controller.server.port()));
  node_side node(controller.address(), "gpu-1");
  CHECK(controller.joined.made.take().other.name == "gpu-1");
  timespec before, after;
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
  for (const auto& way : silent) CHECK(is_closed(way));
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
  CHECK(are_refused(metrics, "silent", 1000));
  // They wait for half a second, in which a spinning thread would take as much.
  CHECK(static_cast<double>(after.tv_sec - before.tv_sec) +
            static_cast<double>(after.tv_nsec - before.tv_nsec) * 1e-9 <
        0.25);
}

TEST_CASE("siege: a stream without a hello, or with a malformed one, is ended and counted") {
  metrics_registry metrics;
  controller_side controller({.hello_within = 300ms, .metrics = &metrics});
  CHECK(say_hello(controller.address(), std::nullopt, std::nullopt).hello.empty());
  CHECK(are_refused(metrics, "silent", 1));
  CHECK_THAT(say_hello(controller.address(), std::nullopt, "{}").why, has_text("challenge: nonce"));
  CHECK(are_refused(metrics, "garbage", 1));
  // A connection that says half of a text keeps nobody out.
  const auto way = connect_to(controller.server.port());
  send_to(way, raw_magic + framed_text("challenge").substr(0, 8));
  node_side node(controller.address(), "gpu-1");
  CHECK(controller.joined.made.take().other.name == "gpu-1");
}

TEST_CASE("siege: a text that announces more than 4 KiB ends the stream before it is read") {
  metrics_registry metrics;
  controller_side controller({.hello_within = 20s, .metrics = &metrics});
  for (const std::uint32_t size : {4097u, 1u << 20, 1u << 26}) {
    const auto way = connect_to(controller.server.port());
    send_to(way, raw_magic + std::string(reinterpret_cast<const char*>(&size), sizeof size));
    ::shutdown(way.number(), SHUT_WR);
    CHECK(is_closed(way));
  }
  CHECK(are_refused(metrics, "garbage", 3));
}

constexpr int besiegers = 400;
/// Those of one address that may stay without a proof.
constexpr int may_stay = 64;

/// Opens connections that say `bytes`, or as much of them as is taken, and stay. Returns the most
/// memory in bytes that the process takes for them until so many of them are closed, which is long
/// before the deadline. One that is closed before the listener has looked at it counts as silent.
std::size_t memory_of(const std::string& bytes, int closed, const std::string& certs = "") {
  metrics_registry metrics;
  controller_side controller({.certs = certs, .hello_within = 10min, .metrics = &metrics});
  std::vector<descriptor> open;
  open.reserve(besiegers);
  const troupe::testing::memory_rise rise;
  for (int i = 0; i < besiegers; ++i) {
    open.push_back(connect_to(controller.server.port()));
    send_what_fits(open.back(), bytes);
  }
  CHECK(troupe::testing::eventually([&] {
    return refused(metrics, "crowded") + refused(metrics, "garbage") + refused(metrics, "silent") >=
           closed;
  }));
  return rise.bytes();
}

/// Less than 128 KB for each connection, and less than 1 MB for each that may stay. What a process
/// with the address or thread sanitizer takes says nothing of this one.
#ifndef TROUPE_SANITIZED
constexpr std::size_t memory_max = std::size_t{48} << 20;
#else
constexpr std::size_t memory_max = std::size_t{1} << 40;
#endif

TEST_CASE("siege: connections without a proof are few and take little memory") {
  const int crowded = besiegers - may_stay;
  const std::string size("\x00\x10\x00\x00", 4);
  CHECK(memory_of(raw_magic + size + std::string(4000, 'x'), crowded) < memory_max);
  CHECK(memory_of(raw_magic + size + std::string(1 << 20, 'x'), besiegers) < memory_max);
  CHECK(memory_of(std::string(1 << 20, 'x'), besiegers) < memory_max);
}

TEST_CASE("siege: connections that never end the TLS handshake take little memory") {
  const temporary_folder folder;
  make_authority(folder.path, std::chrono::days(10));
  const auto own = issue_certificate(folder.path, {"head", "controller", {"127.0.0.1"}});
  // A first message of 128 KB (RFC 8446, 4 and 5.1) in records of 16 KiB, of which the last doesn't
  // come.
  const std::string record("\x16\x03\x01\x40\x00", 5), head("\x01\x01\xff\x00", 4);
  std::string bytes = record + head + std::string((16 << 10) - head.size(), 'x');
  for (int i = 0; i < 5; ++i) bytes += record + std::string(16 << 10, 'x');
  CHECK(memory_of(bytes, besiegers - may_stay, own) < memory_max);
}

/// Is slow to hear of a connection that has failed, and notes whether its listener is gone by then.
class slow_owner final : public stream_owner {
 public:
  hello own_hello() override { return {}; }
  std::optional<join_refusal> find_refusal(const hello&, const std::string&) override { return {}; }
  void joined(const hello&, std::shared_ptr<framed_link>) override {}
  void left(const hello&) override {}
  void failed(const join_refusal&) override {
    if (troupe::testing::eventually([this] { return listener_is_gone.load(); }, 200ms)) {
      was_left_behind = true;
    }
    ++failures;
  }

  std::atomic<bool> listener_is_gone{false}, was_left_behind{false};
  std::atomic<int> failures{0};
};

TEST_CASE("siege: a listener that ends waits until its owner has heard of every connection") {
  const auto owner = std::make_shared<slow_owner>();
  std::optional<stream_listener> listener;
  listener.emplace(listener_options{.address = "127.0.0.1:0", .hello_within = 10min}, owner);
  const auto way = connect_to(listener->port());
  send_to(way, raw_magic);
  const auto garbage = connect_to(listener->port());
  send_to(garbage, std::string(100, 'g'));
  CHECK(is_closed(garbage));  // So the listener has taken the one before.
  listener.reset();
  owner->listener_is_gone = true;
  CHECK(troupe::testing::eventually([&] { return owner->failures == 2; }));
  CHECK_FALSE(owner->was_left_behind);
}

/// A link whose other side reads nothing and says nothing more.
class stuck : public transport, public std::enable_shared_from_this<stuck> {
 public:
  bool write(const std::vector<written_piece>& pieces) override {
    for (const auto& piece : pieces) taken += piece.bytes.size();
    return false;
  }
  void read() override {}
  void cancel() override { cancelled = true; }
  void finish() override {}
  std::size_t taken = 0;
  bool cancelled = false;
};

TEST_CASE("siege: a frozen peer is lost after five seconds, and a bounded amount waits for it") {
  const auto stream = std::make_shared<stuck>();
  const auto way = std::make_shared<framed_link>(link_options{}, incarnation::random(),
                                                 incarnation::random(), stream);
  way->open(std::make_shared<hearer>());
  int sent = 0;
  while (!way->full()) {
    way->send(block(1 << 20), priority::normal);
    REQUIRE(++sent <= 66);
  }
  const std::chrono::steady_clock::time_point start{1000s};
  way->tick(start);
  for (int ms = 250; ms < 5000; ms += 250) way->tick(start + std::chrono::milliseconds(ms));
  CHECK_FALSE(stream->cancelled);
  way->tick(start + 5000ms);
  CHECK(stream->cancelled);
  CHECK(way->has_ended());
  CHECK(stream->taken <= (std::size_t{1} << 20));
  CHECK_FALSE(way->full());  // what waited is gone
}

TEST_CASE("siege: a link that is closed before it was opened ends at once") {
  const auto stream = std::make_shared<stuck>();
  const auto way = std::make_shared<framed_link>(link_options{}, incarnation::random(),
                                                 incarnation::random(), stream);
  way->close("never mind");
  CHECK(stream->cancelled);
  CHECK(way->has_ended());
}

}  // namespace
}  // namespace troupe::detail::testing
