// What the other side of a link can make this process hold, in bytes.

#include <prometheus/metric_family.h>

#include "runtime/coroutine/combine.hpp"
#include "runtime/coroutine/sleep.hpp"
#include "runtime/remote/remote_metrics.hpp"
#include "runtime/remote/table_entry.hpp"
#include "tests/runtime/remote/raw_peer.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;
using detail::byte_count;
using detail::connection;
using detail::counted_bytes;
using detail::message_header;
using detail::message_kind;
using side = detail::peer::side;

// ---- the count

TEST_CASE("byte count: tells each fall below its bound, and nothing else") {
  int falls = 0;
  const auto count = std::make_shared<byte_count>(10, [&] { ++falls; });
  {
    const counted_bytes first(count, 10);
    CHECK_FALSE(count->is_above());
    {
      const counted_bytes second(count, 1);
      CHECK(count->is_above());
      {
        const counted_bytes third(count, 100);
      }
      CHECK(falls == 0);
    }
    CHECK(falls == 1);
    CHECK(count->bytes() == 10);
  }
  CHECK(falls == 1);
  CHECK(count->bytes() == 0);
}

// ---- messages that wait

/// A link that delivers what a test says, in its order or in none.
class told_link final : public detail::link {
 public:
  explicit told_link(bool keeps_order) : keeps_order_(keeps_order) {}

  void open(std::shared_ptr<detail::link_listener> listener) override {
    listener_ = std::move(listener);
  }
  void send(detail::block, priority) override {}
  bool full() const override { return false; }
  void resume() override { ++resumed; }
  void close(const std::string& reason) override { why = reason; }
  bool needs_checksum() const override { return false; }
  bool keeps_order() const override { return keeps_order_; }

  void bring(message_header header, std::size_t size = 0) {
    detail::block bytes(sizeof(header) + size);
    std::memset(bytes.data(), 0, bytes.size());
    std::memcpy(bytes.data(), &header, sizeof(header));
    listener_->received(std::move(bytes));
  }
  void end() {
    if (const auto told = std::exchange(listener_, nullptr)) told->closed("the test ends");
  }

  int resumed = 0;
  std::string why;  ///< Why the link was closed; empty while it was not.

 private:
  const bool keeps_order_;
  std::shared_ptr<detail::link_listener> listener_;
};

/// The mailbox of an actor that has no turn.
class idle_inbox final : public detail::inbox {
 public:
  void request(detail::ref<detail::call_base>, priority) override {}
  void reply(detail::ref<detail::call_base>) override {}
  void post(std::function<void()> action) override { posted.push_back(std::move(action)); }
  void post_last(std::function<void()> action) override { post(std::move(action)); }
  void ring() override {}
  void kill(const char*) override {}

  std::vector<std::function<void()>> posted;
};

/// A connection whose peer has no turn.
struct idle_side {
  explicit idle_side(bool keeps_order)
      : way(std::make_shared<told_link>(keeps_order)), to(std::make_shared<connection>(way)) {
    to->open(detail::ref<detail::inbox>(peer), side::host);
  }
  ~idle_side() { way->end(); }

  const std::shared_ptr<told_link> way;
  const std::shared_ptr<connection> to;
  idle_inbox* const peer = new idle_inbox;
  const detail::ref<detail::inbox> kept{peer};
};

constexpr std::size_t megabyte = std::size_t{1} << 20;

TEST_CASE("peer bounds: over a link that keeps the order a gap ends the link and holds nothing") {
  const std::uint8_t control = GENERATE(0, 1);
  idle_side mine(true);
  mine.way->bring({.kind = message_kind::ping, .control = control, .sequence = 1});
  CHECK(mine.way->why.empty());
  mine.way->bring({.kind = message_kind::drop, .control = control, .sequence = 3}, 4 * megabyte);
  CHECK_THAT(mine.way->why, has_text("message 3 after message 1"));
  CHECK(mine.to->early_bytes() == 0);
  const auto held = mine.to->unhandled_bytes();
  for (std::uint64_t i = 4; i < 10; ++i) {
    mine.way->bring({.kind = message_kind::drop, .control = control, .sequence = i}, megabyte);
  }
  CHECK(mine.to->early_bytes() == 0);
  CHECK(mine.to->unhandled_bytes() == held);
  CHECK(mine.peer->posted.size() == 1);
}

TEST_CASE("peer bounds: over a link that keeps the order a number that comes again ends the link") {
  idle_side mine(true);
  mine.way->bring({.kind = message_kind::ping, .sequence = 1});
  mine.way->bring({.kind = message_kind::ping, .control = 1, .sequence = 1});  // The other urgency.
  CHECK(mine.way->why.empty());
  mine.way->bring({.kind = message_kind::ping, .sequence = 1});
  CHECK_THAT(mine.way->why, has_text("message 1 after message 1"));
}

TEST_CASE("peer bounds: messages before their turn are bounded in bytes, and go with the link") {
  const bool is_closed = GENERATE(false, true);
  idle_side mine(false);
  for (std::uint64_t i = 2; i < 17; ++i) {
    mine.way->bring({.kind = message_kind::drop, .sequence = i}, megabyte);
    mine.way->bring({.kind = message_kind::drop, .sequence = i}, megabyte);  // Twice.
  }
  CHECK(mine.way->why.empty());
  CHECK(mine.to->early_bytes() > 15 * megabyte);
  CHECK(mine.to->early_bytes() <= 16 * megabyte);
  if (is_closed) {
    mine.way->end();
  } else {
    mine.way->bring({.kind = message_kind::drop, .sequence = 17}, megabyte);
    CHECK_THAT(mine.way->why, has_text("more than 16777216 bytes of messages before their turn"));
  }
  CHECK(mine.to->early_bytes() == 0);
}

TEST_CASE("peer bounds: messages in their turn are counted as early no more") {
  idle_side mine(false);
  for (std::uint64_t i = 2; i < 10; ++i) {
    mine.way->bring({.kind = message_kind::drop, .sequence = i}, 100);
  }
  CHECK(mine.peer->posted.empty());
  mine.way->bring({.kind = message_kind::drop, .sequence = 1}, 100);
  CHECK(mine.peer->posted.size() == 9);
  CHECK(mine.to->early_bytes() == 0);
}

TEST_CASE("peer bounds: nothing is read while too much waits for the peer's turn") {
  const std::size_t size = GENERATE(0, 100'000);
  idle_side mine(true);
  std::uint64_t sent = 0;
  while (mine.to->has_room()) {
    mine.way->bring({.kind = message_kind::ping, .replica = 5, .sequence = ++sent}, size);
    REQUIRE(sent * (size + 48) <= connection::unhandled_max + size);
  }
  CHECK(mine.to->unhandled_bytes() <= connection::unhandled_max + size + 1000);
  CHECK(mine.to->unhandled_bytes() > sent * (size + 48));  // It counts what a message takes beside.
  CHECK(mine.way->resumed == 0);
  mine.peer->posted.clear();  // The peer has had its turns.
  CHECK(mine.to->unhandled_bytes() == 0);
  CHECK(mine.to->has_room());
  CHECK(mine.way->resumed == 1);
  CHECK(mine.way->why.empty());
}

// ---- calls under way

/// A service that a node is given.
struct sink {
  task<int> swallow(std::string what) {
    co_await sleep_for(1s);
    co_return static_cast<int>(what.size());
  }
};
/// Calls it several times at once, from another process.
struct swallower {
  task<std::vector<std::string>> feed(service<sink> to, int times, std::size_t size) {
    std::vector<task<outcome<int>>> calls;
    for (int i = 0; i < times; ++i) {
      calls.push_back(to.try_route<&sink::swallow>(std::string(size, 'x')));
    }
    std::vector<std::string> ended;
    for (auto& each : co_await all(std::move(calls))) {
      ended.push_back(each.ok() ? "ok" : describe(each.error()));
    }
    co_return ended;
  }
};

task<> settled() { co_await sleep_for(1ms); }

constexpr std::size_t bound = megabyte;
constexpr std::size_t large = 100'000;

void play_bounded(task<> (*main)(system&)) {
  log_off();
  system sys({.deterministic = true, .seed = play_seed(), .peer_bytes_max = bound});
  sys.run(main(sys));
}

/// A node that was given the service, and has imported its replica under number 1.
task<std::shared_ptr<raw_peer>> with_sink(system& sys, service<sink> sinks) {
  auto node = raw_peer::against(sys, side::host);
  node->give(sinks);
  node->say({.kind = message_kind::watch}, std::string("sinks"));
  co_await settled();
  auto body = node->last(message_kind::table).body();
  const auto told = body.read<std::pair<std::string, std::vector<detail::table_entry>>>();
  node->say({.kind = message_kind::import, .replica = 1},
            std::pair(std::string("sinks"), told.second.at(0).serial));
  co_await settled();
  co_return node;
}

/// The bytes of the calls that are under way at the node's peer.
task<std::size_t> call_bytes(std::shared_ptr<raw_peer> node) {
  const auto found = std::make_shared<std::size_t>(0);
  node->peer->post([found] { *found = detail::peer::here().exported().call_bytes(); });
  co_await settled();
  co_return *found;
}

std::string last_error(const raw_peer& peer) {
  auto body = peer.last(message_kind::error).body();
  return describe(body.read<std::exception_ptr>());
}

task<> flood_with_calls(system& sys) {
  const auto sinks =
      co_await sys.serve<sink>({.name = "sinks", .max_queued = 1000, .max_ongoing = 4});
  const auto node = co_await with_sink(sys, sinks);
  const auto other = co_await with_sink(sys, sinks);
  constexpr std::size_t calls = 64;
  for (std::uint64_t id = 1; id <= calls; ++id) {
    node->call<&sink::swallow>(1, id, std::string(large, 'x'));
  }
  co_await settled();
  CHECK(co_await call_bytes(node) <= bound);
  CHECK(co_await call_bytes(node) > bound - 2 * large);
  const auto refused = node->count(message_kind::error);
  CHECK(refused == calls - bound / (large + 1100));
  CHECK_THAT(last_error(*node), has_text("overloaded") && has_text("peer_bytes_max"));
  CHECK(node->why.empty());

  // The bound is of each peer.
  other->call<&sink::swallow>(1, 1, std::string(large, 'x'));
  co_await settled();
  CHECK(other->count(message_kind::error) == 0);

  co_await sleep_for(10s);
  CHECK(node->count(message_kind::result) == calls - refused);
  CHECK(co_await call_bytes(node) == 0);
  node->call<&sink::swallow>(1, calls + 1, std::string(large, 'x'));
  co_await settled();
  CHECK(node->count(message_kind::error) == refused);
}

TEST_CASE("peer bounds: the calls of a node are bounded in bytes, and a further one is refused") {
  play_bounded(flood_with_calls);
}

task<> call_and_cancel(system& sys) {
  const auto sinks =
      co_await sys.serve<sink>({.name = "sinks", .max_queued = 1000, .max_ongoing = 2});
  const auto node = co_await with_sink(sys, sinks);
  for (std::uint64_t id = 1; id <= 5; ++id) {
    node->call<&sink::swallow>(1, id, std::string(large, 'x'));
  }
  co_await settled();
  CHECK(co_await call_bytes(node) > 5 * large);
  for (std::uint64_t id = 1; id <= 5; ++id) {
    node->say({.kind = message_kind::cancel, .replica = 1, .id = id});
  }
  co_await settled();
  CHECK(co_await call_bytes(node) == 0);
}

TEST_CASE("peer bounds: what a node has cancelled is counted no more") {
  play_bounded(call_and_cancel);
}

task<> call_with_much(system& sys) {
  const auto sinks = co_await sys.serve<sink>({.name = "sinks"});
  const auto node = co_await with_sink(sys, sinks);
  node->call<&sink::swallow>(1, 1, std::string(3 * bound, 'x'));
  co_await settled();
  CHECK(node->count(message_kind::error) == 0);
  node->call<&sink::swallow>(1, 2, std::string(1, 'x'));
  co_await settled();
  CHECK(node->count(message_kind::error) == 1);
  co_await sleep_for(2s);
  CHECK(node->count(message_kind::result) == 1);
}

TEST_CASE("peer bounds: one call of any size is taken") { play_bounded(call_with_much); }

task<> feed_from_a_child(system& sys) {
  const auto sinks =
      co_await sys.serve<sink>({.name = "sinks", .max_queued = 1000, .max_ongoing = 100});
  const auto swallowers =
      co_await sys.serve<swallower>({.name = "swallowers", .placement = placement::process});
  const auto ended = co_await swallowers.route<&swallower::feed>(sinks, 20, large);
  REQUIRE(ended.size() == 20);
  CHECK(std::ranges::count(ended, "ok") == bound / (large + 1100));
  for (const auto& each : ended) {
    if (each != "ok") CHECK_THAT(each, has_text("overloaded") && has_text("peer_bytes_max"));
  }
}

TEST_CASE("peer bounds: the caller in another process is told what was exceeded") {
  play_bounded(feed_from_a_child);
}

TEST_CASE("peer bounds: a bound of nothing is refused") {
  CHECK_THROWS_WITH(system({.peer_bytes_max = 0}),
                    has_text("system: peer_bytes_max: expected a number > 0, got 0"));
}

// ---- metrics that name another process

/// What a process with that label says of itself, as this process shows it.
task<std::string> shown(system& sys, prometheus::ClientMetric::Label whose,
                        std::vector<prometheus::ClientMetric::Label> said) {
  const auto from = raw_peer::against(sys, side::host);
  const auto counted = detail::core_of(sys).remote_metrics();
  counted->add(from->theirs, std::move(whose));
  co_await settled();
  counted->ask([] {});
  co_await settled();
  const auto id = from->last(message_kind::measure).header.id;
  prometheus::ClientMetric sample;
  sample.label = std::move(said);
  sample.counter.value = sample.gauge.value = 7;
  const std::vector<prometheus::MetricFamily> all{
      {"told_total", "What was told.", prometheus::MetricType::Counter, {sample}},
      {"kept_total", "A counter of this process.", prometheus::MetricType::Gauge, {sample}}};
  from->say({.kind = message_kind::measured, .control = 1, .id = id}, all);
  co_await settled();
  auto text = sys.metrics().text();
  counted->remove(*from->theirs);
  co_return text;
}

task<> name_another(system& sys) {
  auto kept = sys.metrics().counter("kept_total", "A counter of this process.");
  kept.increment(3);
  using labels = std::vector<prometheus::ClientMetric::Label>;
  const auto spoofed = co_await shown(sys, {"node", "raw"}, labels{{"node", "another"}});
  CHECK_THAT(spoofed, has_text("told_total{node=\"raw\"} 7") && !has_text("another"));
  const auto nameless = co_await shown(sys, {"node", "raw2"}, labels{{"node", ""}});
  CHECK_THAT(nameless, has_text("told_total{node=\"raw2\"} 7") && !has_text("node=\"\""));
  const auto own_child =
      co_await shown(sys, {"node", "raw3"}, labels{{"process", "environments-0"}});
  CHECK_THAT(own_child, has_text("told_total{node=\"raw3\",process=\"environments-0\"} 7"));
  const auto child = co_await shown(sys, {"process", "environments-1"},
                                    labels{{"node", "gpu-7"}, {"process", "environments-2"}});
  CHECK_THAT(child, has_text("told_total{process=\"environments-1\"} 7") && !has_text("gpu-7") &&
                        !has_text("environments-2"));
  // What another process calls a gauge is a counter here.
  CHECK_THAT(child, has_text("kept_total 3") && has_text("# TYPE kept_total counter"));
}

TEST_CASE("remote metrics: a process can't show samples of another, nor hide those of this one") {
  play_bounded(name_another);
}

}  // namespace
}  // namespace troupe
