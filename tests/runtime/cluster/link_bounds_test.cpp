// What a link of frames does where its listener has no room, and where its other side doesn't read.

#include <arpa/inet.h>
#include <linux/filter.h>
#include <sys/socket.h>

#include <atomic>

#include "runtime/cluster/framed_link.hpp"
#include "tests/runtime/cluster/cluster.hpp"

namespace troupe::detail::testing {
namespace {

/// A stream whose other side reads nothing and says nothing.
class silent_stream final : public transport {
 public:
  bool write(const std::vector<written_piece>&) override { return false; }
  void read() override { ++reads; }
  std::chrono::milliseconds unacknowledged_for() override { return owed_for; }
  void cancel() override {}
  void finish() override {}
  int reads = 0;
  std::chrono::milliseconds owed_for{0};
};

class full_listener final : public link_listener {
 public:
  void received(block) override {}
  bool has_room() const override { return room; }
  void writable() override {}
  void closed(const std::string& why) override { ends.put(why); }
  std::atomic<bool> room{false};
  mailbox<std::string> ends;
};

struct silent_link {
  const std::shared_ptr<silent_stream> stream = std::make_shared<silent_stream>();
  const std::shared_ptr<framed_link> way = std::make_shared<framed_link>(
      link_options{}, incarnation::random(), incarnation::random(), stream);
};

TEST_CASE("link bounds: nothing is read while the listener has no room, and the peer isn't lost") {
  const silent_link made;
  const auto listener = std::make_shared<full_listener>();
  made.way->open(listener);
  CHECK(made.stream->reads == 0);
  const std::chrono::steady_clock::time_point start{1000s};
  for (int s = 0; s < 60; ++s) made.way->tick(start + std::chrono::seconds(s));
  CHECK_FALSE(made.way->has_ended());
  made.way->resume();
  CHECK(made.stream->reads == 0);
  listener->room = true;
  made.way->resume();
  CHECK(made.stream->reads == 1);
  made.way->resume();
  CHECK(made.stream->reads == 1);  // One read at a time.
}

TEST_CASE("link bounds: a machine that acknowledges nothing is lost although nothing is read") {
  const silent_link made;
  made.way->open(std::make_shared<full_listener>());
  const std::chrono::steady_clock::time_point start{1000s};
  made.way->tick(start);
  made.stream->owed_for = 400ms;
  made.way->tick(start + 3s);
  made.stream->owed_for = 10ms;  // A late acknowledgement has come.
  made.way->tick(start + 4s);
  made.stream->owed_for = 5s;
  made.way->tick(start + 8750ms);
  CHECK_FALSE(made.way->has_ended());
  made.way->tick(start + 9s);
  CHECK(made.way->has_ended());
}

/// Two sides that read nothing.
struct full_pair {
  explicit full_pair(std::chrono::milliseconds lost_after)
      : server({.link = {.ping_every = 50ms, .lost_after = lost_after}},
               [this](const hello&, std::shared_ptr<link> way) {
                 way->open(here);
                 from_here.put(std::move(way));
               }),
        node({.address = at_port(server.port()), .name = "gpu-1"},
             {.joined =
                  [this](const hello&, std::shared_ptr<link> way) {
                    way->open(there);
                    joined.put(std::move(way));
                  },
              .failed = {}}) {
    joined.take();
  }

  const std::shared_ptr<full_listener> here = std::make_shared<full_listener>();
  const std::shared_ptr<full_listener> there = std::make_shared<full_listener>();
  mailbox<std::shared_ptr<link>> from_here, joined;
  link_server server;
  link_client node;
};

/// Lets the sockets of this process that are connected to `port` take nothing from the network any
/// more, as if their machine had gone. Their kernel then acknowledges nothing. Returns their
/// number.
int cut_off_those_at(std::uint16_t port) {
  sock_filter take_nothing = BPF_STMT(BPF_RET | BPF_K, 0);
  const sock_fprog program{.len = 1, .filter = &take_nothing};
  int found = 0;
  for (int number = 0; number < 1024; ++number) {
    sockaddr_in to{};
    socklen_t size = sizeof to;
    if (::getpeername(number, reinterpret_cast<sockaddr*>(&to), &size) != 0) continue;
    if (to.sin_family != AF_INET || ntohs(to.sin_port) != port) continue;
    REQUIRE(::setsockopt(number, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0);
    ++found;
  }
  return found;
}

/// What the kernels of both machines take, and more.
constexpr int blocks = 40;

// These take the time after which a peer is lost, which is what they test.

TEST_CASE("link bounds: a machine that has gone is lost although this side reads nothing") {
  full_pair ends(500ms);
  CHECK(cut_off_those_at(ends.server.port()) == 1);
  CHECK(ends.here->ends.take() == "nothing was acknowledged for 500 ms");
}

TEST_CASE("link bounds: a machine that has gone is lost although no side reads anything") {
  full_pair ends(500ms);
  const auto way = ends.from_here.take();
  for (int i = 0; i < blocks; ++i) way->send(block(1 << 20), priority::normal);
  CHECK(cut_off_those_at(ends.server.port()) == 1);
  CHECK(ends.here->ends.take() == "nothing was acknowledged for 500 ms");
}

TEST_CASE(
    "link bounds: two sides that read nothing keep their link while both machines are there") {
  // A kernel answers two probes within half a second by one acknowledgement only.
  full_pair ends(2000ms);
  const auto way = ends.from_here.take();
  for (int i = 0; i < blocks; ++i) way->send(block(1 << 20), priority::normal);
  CHECK_FALSE(troupe::testing::eventually([&] { return ends.here->ends.size() > 0; }, 4000ms));
}

TEST_CASE("link bounds: short messages that nobody reads end the link by their number") {
  const silent_link made;
  made.way->open(std::make_shared<full_listener>());
  for (std::size_t i = 0; i < waiting_blocks_max; ++i) made.way->send(block(1), priority::control);
  CHECK_FALSE(made.way->has_ended());
  for (int i = 0; i < 2; ++i) made.way->send(block(1), priority::normal);
  CHECK(made.way->has_ended());
}

TEST_CASE("link bounds: the other side's reason for the end of a link is printable") {
  controller_side controller({});
  node_side node(controller.address(), "gpu-1");
  const auto here = controller.joined.made.take();
  const auto there = node.joined.made.take();
  there.way->close("\x1b]0;title\x07\na forged line");
  CHECK(here.heard->ends.take() ==
        "the other side closed the link: \\u001b]0;title\\u0007\\u000aa forged line");
}

}  // namespace
}  // namespace troupe::detail::testing
