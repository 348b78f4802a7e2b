// What comes to the port that is no peer, and a peer that stops.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <ctime>

#include "runtime/actor/splitmix.hpp"
#include "runtime/base/descriptor.hpp"
#include "runtime/metrics/registry.hpp"
#include "tests/runtime/cluster/cluster.hpp"
#include "tests/runtime/cluster/raw_joiner.hpp"

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
    // Every fourth begins as HTTP/2 does.
    std::string bytes = i % 4 ? "" : "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    for (int n = 0; n < 500; ++n) bytes += static_cast<char>(next_of(seed) | (n == 0));
    if (i % 4 && bytes[0] == 'P') bytes[0] = 'Q';
    (void)!::send(way.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    ::shutdown(way.number(), SHUT_WR);
    CHECK(is_closed(way));
  }
  CHECK(are_refused(metrics, "garbage", count * 3 / 4));
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
  // HTTP/2's preface and empty settings: a connection without a stream keeps nobody out.
  const auto way = connect_to(controller.server.port());
  const std::string bytes("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", 33);
  REQUIRE(::send(way.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == 33);
  node_side node(controller.address(), "gpu-1");
  CHECK(controller.joined.made.take().other.name == "gpu-1");
}

/// A link whose other side reads nothing and says nothing more.
class stuck : public transport, public std::enable_shared_from_this<stuck> {
 public:
  void write(const std::vector<written_piece>& pieces) override {
    for (const auto& piece : pieces) taken += piece.bytes.size();
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
