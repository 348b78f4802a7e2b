// Who joins, who comes back and who may not.

#include "runtime/actor/splitmix.hpp"
#include "runtime/cluster/build_id.hpp"
#include "tests/runtime/cluster/cluster.hpp"
#include "tests/runtime/cluster/raw_joiner.hpp"

namespace troupe::detail::testing {
namespace {

TEST_CASE("join: each side learns who the other is") {
  controller_side controller({.name = "head"});
  node_side node(controller.address(), "gpu-1", [](auto& o) { o.slots = 3; });
  const auto here = controller.joined.made.take();
  CHECK(here.other.name == "gpu-1");
  CHECK(here.other.role == "node");
  CHECK(here.other.slots == 3);
  CHECK(here.other.build == build_id());
  const auto there = node.joined.made.take();
  CHECK(there.other.name == "head");
  CHECK(there.other.role == "controller");
}

TEST_CASE("join: another build is refused, and both are named") {
  controller_side controller({.build = "aaaa"});
  node_side node(controller.address(), "gpu-1", [](auto& o) { o.build = "bbbb"; });
  const auto why = node.failures.take();
  CHECK_THAT(why, has_text("aaaa"));
  CHECK_THAT(why, has_text("bbbb"));
  CHECK(controller.joined.made.size() == 0);
}

TEST_CASE("join: a name is one live node's") {
  controller_side controller;
  auto first = std::make_unique<node_side>(controller.address(), "gpu-1");
  const auto here = controller.joined.made.take();
  node_side second(controller.address(), "gpu-1");
  CHECK(second.failures.take() == "a node named gpu-1 is there already");
  first.reset();
  CHECK_THAT(here.heard->ends.take(), has_text("the node is stopping"));
  const auto other = controller.joined.made.take();
  CHECK(other.other.self != here.other.self);
}

TEST_CASE("join: a node comes back fifty times") {
  controller_side controller;
  node_side node(controller.address(), "gpu-1", [](auto& o) { o.retry_first = 2ms; });
  incarnation self;
  for (int i = 0; i < 50; ++i) {
    const auto here = controller.joined.made.take();
    const auto there = node.joined.made.take();
    if (i == 0) self = here.other.self;
    CHECK(here.other.self == self);
    there.way->send(block_of(std::to_string(i)), priority::normal);
    CHECK(text_of(here.heard->messages.take()) == std::to_string(i));
    (i % 2 ? here : there).way->close("once more");
    here.heard->ends.take();
    there.heard->ends.take();
  }
}

TEST_CASE("join: a link that its process has replaced ends, although the other side keeps it") {
  controller_side controller;
  const join_secret secret("");
  const hello who{
      .build = build_id(), .self = incarnation::random(), .name = "gpu-1", .role = "node"};
  const auto joins_again = [&] {
    const auto first = controller.joined.made.take();
    CHECK(!join_knowing(secret, controller.address(), who).hello.empty());
    // The connection of the first time is still open, and nobody reads it.
    CHECK_THAT(first.heard->ends.take(), has_text("has replaced it"));
    const auto second = controller.joined.made.take();
    CHECK(second.other.self == first.other.self);
    second.heard->ends.take();  // It went at once.
  };
  CHECK(!join_knowing(secret, controller.address(), who, joins_again).hello.empty());
}

TEST_CASE("join: nodes that give up while they join leave nothing behind") {
  controller_side controller;
  std::uint64_t seed = 1, drawn = 1;
  for (int i = 0; i < 100; ++i) {
    node_side node(controller.address(), "gpu-1");
    // The node goes at any moment of the exchange: it computes meanwhile, up to about a
    // millisecond.
    for (auto turns = next_of(seed) % 500'000; turns > 0; --turns) next_of(drawn);
  }
  CHECK(drawn != 0);
  node_side last(controller.address(), "gpu-1", [](auto& o) { o.slots = 7; });
  last.joined.made.take();
  for (;;) {
    const auto here = controller.joined.made.take();
    if (here.other.slots == 7) break;
    CHECK_NOTHROW(here.heard->ends.take());
  }
}

TEST_CASE("join: a node waits for its controller, and finds its successor") {
  auto controller = std::make_unique<controller_side>();
  const auto address = controller->address();
  controller.reset();
  node_side node(address, "gpu-1");
  node.failures.take();
  node.failures.take();
  controller = std::make_unique<controller_side>(link_server_options{.address = address});
  controller->joined.made.take();
  const auto there = node.joined.made.take();
  controller.reset();
  CHECK_THAT(there.heard->ends.take(), has_text("the controller is stopping"));
  controller = std::make_unique<controller_side>(link_server_options{.address = address});
  CHECK(controller->joined.made.take().other.name == "gpu-1");
}

}  // namespace
}  // namespace troupe::detail::testing
