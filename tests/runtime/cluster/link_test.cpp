// What a link between two processes carries. Both ends are in this one, over loopback.

#include <array>
#include <bit>
#include <limits>

#include "tests/runtime/cluster/cluster.hpp"

namespace troupe::detail::testing {
namespace {

struct pair {
  explicit pair(link_options options = {})
      : controller({.link = options}),
        node(controller.address(), "gpu-1", [&](auto& o) { o.link = options; }),
        here(controller.joined.made.take()),
        there(node.joined.made.take()) {}

  controller_side controller;
  node_side node;
  side here, there;  ///< The controller's, the node's.
};

TEST_CASE("link: messages come in order, both ways") {
  pair ends;
  for (int i = 0; i < 1000; ++i) {
    ends.here.way->send(block_of("to " + std::to_string(i)), priority::normal);
    ends.there.way->send(block_of("from " + std::to_string(i)), priority::normal);
  }
  for (int i = 0; i < 1000; ++i) {
    CHECK(text_of(ends.there.heard->messages.take()) == "to " + std::to_string(i));
    CHECK(text_of(ends.here.heard->messages.take()) == "from " + std::to_string(i));
  }
}

TEST_CASE("link: every float crosses as it is") {
  using limits = std::numeric_limits<float>;
  std::vector<float> values{0.f,
                            -0.f,
                            limits::infinity(),
                            -limits::infinity(),
                            limits::quiet_NaN(),
                            limits::signaling_NaN(),
                            std::bit_cast<float>(0xffc12345u),
                            limits::denorm_min(),
                            -limits::denorm_min(),
                            limits::max()};
  block sent(values.size() * sizeof(float));
  std::memcpy(sent.data(), values.data(), sent.size());
  const std::string bytes = text_of(sent);
  pair ends;
  ends.here.way->send(std::move(sent), priority::normal);
  CHECK(text_of(ends.there.heard->messages.take()) == bytes);
}

TEST_CASE("link: messages of any size come whole") {
  pair ends;
  const std::size_t chunk = link_options{}.frame_payload;
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{4096}, std::size_t{4097}, chunk - 1, chunk,
        chunk + 1, std::size_t{5'000'001}}) {
    std::string text(size, '\0');
    for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 31 + i / 251);
    ends.there.way->send(block_of(text), priority::normal);
    CAPTURE(size);
    CHECK(text_of(ends.here.heard->messages.take()) == text);
  }
}

TEST_CASE("link: a control message overtakes a long one") {
  pair ends;
  ends.here.way->send(block(100 << 20), priority::normal);
  ends.here.way->send(block_of("now"), priority::control);
  CHECK(ends.there.heard->messages.take().size() == 3);
  CHECK(ends.there.heard->messages.take().size() == 100 << 20);
}

TEST_CASE("link: a message over the limit is refused at its sender") {
  pair ends({.message_bytes_max = 1000});
  CHECK_THROWS_WITH(ends.here.way->send(block(1001), priority::normal),
                    "link: a message of 1001 bytes: expected at most 1000");
  ends.here.way->send(block(1000), priority::normal);
  CHECK(ends.there.heard->messages.take().size() == 1000);
}

TEST_CASE("link: a message over the receiver's limit ends the link") {
  controller_side controller({.link = {.message_bytes_max = 1000}});
  node_side node(controller.address(), "gpu-1");
  const auto here = controller.joined.made.take();
  const auto there = node.joined.made.take();
  there.way->send(block(1001), priority::normal);
  CHECK(here.heard->ends.take() == "a message of 1001 bytes: expected at most 1000");
  there.heard->ends.take();
  CHECK(here.heard->messages.size() == 0);
}

TEST_CASE("link: the reason of its end is heard on both sides") {
  pair ends;
  ends.here.way->close("enough");
  CHECK(ends.here.heard->ends.take() == "enough");
  CHECK(ends.there.heard->ends.take() == "the other side closed the link: enough");
  ends.here.way->send(block_of("late"), priority::normal);  // dropped
  ends.there.way->send(block_of("late"), priority::normal);
}

TEST_CASE("link: a slow listener fills the queue of the sender, which hears when there is room") {
  class slow : public hearer {
   public:
    void received(block message) override {
      std::unique_lock held(mutex);
      may_go.wait_for(held, soon, [this] { return go; });
      held.unlock();
      hearer::received(std::move(message));
    }
    void let_go() {
      {
        const std::lock_guard held(mutex);
        go = true;
      }
      may_go.notify_all();
    }
    std::mutex mutex;
    std::condition_variable may_go;
    bool go = false;
  };
  const auto slow_one = std::make_shared<slow>();
  link_server server({}, [&](const hello&, std::shared_ptr<link> way) { way->open(slow_one); });
  node_side node(at_port(server.port()), "gpu-1",
                 [](auto& o) { o.link.queue_bytes_max = 10 << 20; });
  const auto there = node.joined.made.take();
  int sent = 0;
  while (!there.way->full()) {
    there.way->send(block(1 << 20), priority::normal);
    REQUIRE(++sent < 1000);
  }
  CHECK(there.heard->writables == 0);
  slow_one->let_go();
  for (int i = 0; i < sent; ++i) CHECK(slow_one->messages.take().size() == 1 << 20);
  CHECK(there.heard->writables >= 1);
  CHECK_FALSE(there.way->full());
}

}  // namespace
}  // namespace troupe::detail::testing
