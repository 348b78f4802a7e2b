#include "runtime/cluster/frame.hpp"

#include "runtime/cluster/heartbeat.hpp"
#include "runtime/cluster/send_queue.hpp"
#include "tests/runtime/cluster/cluster.hpp"

namespace troupe::detail::testing {
namespace {

const incarnation sender = incarnation::random();

/// The bytes of one frame.
std::string frame(std::uint64_t sequence, const std::string& payload, std::uint64_t message_size,
                  priority lane = priority::normal, frame_kind kind = frame_kind::message,
                  const incarnation& from = sender) {
  std::string bytes(frame_header_size, '\0');
  write_header({.kind = kind,
                .lane = lane,
                .sequence = sequence,
                .sender = from,
                .message_size = message_size},
               std::as_bytes(std::span(payload)), reinterpret_cast<std::byte*>(bytes.data()));
  return bytes + payload;
}

struct seen : frame_sink {
  void message_read(block message) override { texts.push_back(text_of(message)); }
  void ping_read(std::uint64_t number) override { pings.push_back(number); }
  void pong_read(std::uint64_t) override {}
  void end_read(std::string why) override { end = why; }
  std::vector<std::string> texts;
  std::vector<std::uint64_t> pings;
  std::string end;
};

/// What a reader makes of the bytes, `step` of them at a time; its fault is added as a text.
std::vector<std::string> read(const std::string& bytes, std::size_t step = 1000) {
  frame_reader reader(sender, 100);
  seen found;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    const auto part = bytes.substr(at, step);
    if (reader.read(std::as_bytes(std::span(part)), found)) continue;
    found.texts.push_back(reader.fault());
    break;
  }
  return found.texts;
}

using texts = std::vector<std::string>;

TEST_CASE("frames: messages come whole, however the stream is cut") {
  const auto bytes = frame(0, "one", 3) + frame(1, "", 0) + frame(2, "lon", 8) +
                     frame(3, "urgent", 6, priority::control) + frame(4, "g one", 8);
  for (const std::size_t step : {1, 7, 48, 1000}) {
    CHECK(read(bytes, step) == texts{"one", "", "urgent", "long one"});
  }
}

TEST_CASE("frames: pings and the end are heard between the parts of a message") {
  const std::string number(8, '\1');
  const auto bytes = frame(0, "half", 8) + frame(1, number, 0, priority::normal, frame_kind::ping) +
                     frame(2, "enough", 0, priority::normal, frame_kind::end);
  frame_reader reader(sender, 100);
  seen found;
  CHECK(reader.read(std::as_bytes(std::span(bytes)), found));
  CHECK(found.pings == std::vector<std::uint64_t>{0x0101010101010101});
  CHECK(found.end == "enough");
  CHECK(found.texts.empty());
}

TEST_CASE("frames: a flipped bit anywhere is found") {
  const auto good = frame(0, "some payload", 12);
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    auto bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    // A larger size waits for bytes that belong to the next frame.
    const auto found = read(bad + frame(1, std::string(100, 'x'), 100));
    CAPTURE(bit);
    CHECK_FALSE((found.size() > 0 && found[0] == "some payload"));
  }
}

TEST_CASE("frames: what does not belong here is refused, and named") {
  CHECK_THAT(read(frame(0, "a", 1) + frame(2, "b", 1)).back(),
             has_text("out of sequence: expected number 1, got 2"));
  CHECK_THAT(read(frame(0, "a", 1) + frame(0, "a", 1)).back(), has_text("out of sequence"));
  const auto stranger = incarnation::random();
  CHECK_THAT(read(frame(0, "a", 1, priority::normal, frame_kind::message, stranger)).back(),
             has_text("another incarnation: expected " + to_string(sender) + ", got " +
                      to_string(stranger)));
  CHECK_THAT(read(frame(0, "a", 101)).back(), has_text("a message of 101 bytes: expected at most"));
  CHECK_THAT(read(frame(0, "ab", 1)).back(), has_text("does not fit its message"));
  CHECK_THAT(read(frame(0, "", 1)).back(), has_text("does not fit its message"));
  CHECK_THAT(read(frame(0, "a", 3) + frame(1, "b", 4)).back(), has_text("another message"));
  CHECK_THAT(read(frame(0, "a", 1, static_cast<priority>(7))).back(), has_text("malformed"));
  CHECK_THAT(read(frame(0, "a", 1, priority::normal, static_cast<frame_kind>(9))).back(),
             has_text("unknown kind: 9"));
}

TEST_CASE("frames: a long message is cut, and control messages and notes go before its rest") {
  send_queue queue(10);
  queue.push(block_of(std::string(25, 'n')), priority::normal);
  CHECK(queue.bytes() == 25);
  CHECK(queue.take().size() == 1);
  CHECK(queue.bytes() == 15);
  queue.push(block_of("now"), priority::control);
  queue.push_note(frame_kind::ping, "12345678");
  const auto next = queue.take();  // ping, "now"
  REQUIRE(next.size() == 2);
  CHECK(next[0].kind == frame_kind::ping);
  CHECK(next[1].lane == priority::control);
  const auto third = queue.take();
  REQUIRE(third.size() == 1);
  CHECK(third[0].offset == 10);
  CHECK(third[0].size == 10);
  CHECK(queue.take()[0].size == 5);
  CHECK(queue.empty());
}

TEST_CASE("heartbeat: a ping each second, and a silence of five is a loss") {
  heartbeat beat(1s, 5s);
  const heartbeat::time_point start{100s};
  using due = heartbeat::due;
  CHECK(beat.look(start, false) == due::ping);
  CHECK(beat.look(start + 999ms, false) == due::nothing);
  CHECK(beat.look(start + 1000ms, false) == due::ping);
  CHECK(beat.look(start + 4999ms, true) == due::ping);
  CHECK(beat.look(start + 9998ms, false) == due::ping);
  CHECK(beat.look(start + 9999ms, false) == due::lost);
}

}  // namespace
}  // namespace troupe::detail::testing
