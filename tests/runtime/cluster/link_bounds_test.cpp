// What a link of frames does where its listener has no room, and where its other side doesn't read.

#include <atomic>

#include "runtime/cluster/framed_link.hpp"
#include "tests/runtime/cluster/cluster.hpp"

namespace troupe::detail::testing {
namespace {

/// A stream whose other side reads nothing and says nothing.
class silent_stream final : public transport {
 public:
  void write(const std::vector<written_piece>&) override {}
  void read() override { ++reads; }
  void cancel() override {}
  void finish() override {}
  int reads = 0;
};

class full_listener final : public link_listener {
 public:
  void received(block) override {}
  bool has_room() const override { return room; }
  void writable() override {}
  void closed(const std::string&) override {}
  std::atomic<bool> room{false};
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
