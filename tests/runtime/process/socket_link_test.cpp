#include "runtime/process/socket_link.hpp"

#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <random>
#include <thread>

#include "tests/runtime/process/support.hpp"
#include "tests/test.hpp"

namespace troupe::detail {
namespace {

void fill(block& what, unsigned seed) {
  for (std::size_t i = 0; i < what.size(); ++i) {
    what.data()[i] = static_cast<std::byte>((i * 2654435761u + seed) >> 13);
  }
}

bool equal(const block& a, const block& b) { return std::ranges::equal(a.bytes(), b.bytes()); }

std::pair<descriptor, descriptor> socket_pair() {
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  return {descriptor(ends[0]), descriptor(ends[1])};
}

constexpr std::size_t small_half = 4 << 20;

/// Both sides in one process; each has a mapping of its own.
struct two_ends {
  two_ends() {
    auto [a, b] = socket_pair();
    auto memory = std::make_shared<shared_memory>(small_half);
    auto inherited = std::make_shared<shared_memory>(memory->take_descriptor());
    left = std::make_shared<socket_link>(std::move(a), memory, true);
    right = std::make_shared<socket_link>(std::move(b), inherited, false);
    left->open(at_left);
  }
  ~two_ends() {
    left->close("the test ends");
    right->close("the test ends");
  }

  const std::shared_ptr<hearer> at_left = std::make_shared<hearer>();
  const std::shared_ptr<hearer> at_right = std::make_shared<hearer>();
  std::shared_ptr<socket_link> left, right;
};

TEST_CASE("socket link: blocks of every size arrive whole, in order, by socket and shared memory") {
  player echo("echo");
  const auto way = echo.process.way();
  const bool shared = GENERATE(false, true);
  std::vector<block> sent;
  for (const std::size_t size :
       {1, 23, 24, 25, 16383, 65535, 65536, 65537, 1 << 20, 5'000'001, 7}) {
    block message = shared ? way->allocate(size) : block(size), copy(size);
    fill(message, static_cast<unsigned>(size));
    fill(copy, static_cast<unsigned>(size));
    sent.push_back(std::move(copy));
    way->send(std::move(message), priority::normal);
  }
  for (const auto& expected : sent) CHECK(equal(echo.heard->next(), expected));
}

TEST_CASE("socket link: has one listener") {
  two_ends ends;
  CHECK_THROWS_WITH(ends.left->open(ends.at_right), "link: opened twice");
  ends.right->open(ends.at_right);
  ends.left->send(block(3), priority::normal);
  CHECK(ends.at_right->next().size() == 3);
}

TEST_CASE("socket link: threads send at once, and each one's messages stay in order") {
  constexpr int threads = 4, messages = 500;
  two_ends ends;
  ends.right->open(ends.at_right);
  std::vector<std::thread> senders;
  for (int thread = 0; thread < threads; ++thread) {
    senders.emplace_back([&ends, thread] {
      for (int i = 0; i < messages; ++i) {
        block message = ends.left->allocate(i % 50 == 0 ? 100'000 : 100);
        std::memset(message.data(), 0, message.size());
        std::memcpy(message.data(), &thread, sizeof thread);
        std::memcpy(message.data() + sizeof thread, &i, sizeof i);
        ends.left->send(std::move(message), priority::normal);
      }
    });
  }
  std::array<int, threads> seen{};
  for (int i = 0; i < threads * messages; ++i) {
    const auto message = ends.at_right->next();
    int thread, number;
    std::memcpy(&thread, message.data(), sizeof thread);
    std::memcpy(&number, message.data() + sizeof thread, sizeof number);
    REQUIRE(number == seen.at(static_cast<std::size_t>(thread))++);
  }
  for (auto& sender : senders) sender.join();
}

TEST_CASE("socket link: control overtakes what waits, also within a large message") {
  two_ends ends;
  ends.left->send(block(8 << 20), priority::normal);
  ends.left->send(block_of("work"), priority::normal);
  ends.left->send(block_of("stop"), priority::control);
  ends.right->open(ends.at_right);
  CHECK(ends.at_right->next_text() == "stop");
  CHECK(ends.at_right->next().size() == 8 << 20);
  CHECK(ends.at_right->next_text() == "work");
}

/// Has room for one message, until it gets more.
class full_listener final : public link_listener {
 public:
  void received(block) override { ++messages; }
  bool has_room() const override { return messages < room; }
  void writable() override {}
  void closed(const std::string&) override { is_closed = true; }
  std::atomic<int> messages{0}, room{1};
  std::atomic<bool> is_closed{false};
};

/// Lets the loop's thread do what is ready, that many times.
void let_the_loop_run(int times) {
  for (int i = 0; i < times; ++i) {
    std::promise<void> ran;
    io_loop().post([&] { ran.set_value(); });
    ran.get_future().wait();
  }
}

TEST_CASE("socket link: nothing is read while the listener has no room") {
  constexpr int count = 20;
  two_ends ends;
  const auto slow = std::make_shared<full_listener>();
  ends.right->open(slow);
  for (int i = 0; i < count; ++i) ends.left->send(block(1 << 20), priority::normal);
  let_the_loop_run(500);
  CHECK(slow->messages == 1);
  slow->room = 3;
  ends.right->resume();
  let_the_loop_run(500);
  CHECK(slow->messages == 3);
  slow->room = count + 1;
  ends.right->resume();
  while (slow->messages < count) let_the_loop_run(1);
  CHECK(slow->messages == count);
}

TEST_CASE("socket link: its end is told to a listener that has no room") {
  two_ends ends;
  const auto slow = std::make_shared<full_listener>();
  slow->room = 0;
  ends.right->open(slow);
  ends.left->send(block(100), priority::normal);
  let_the_loop_run(100);
  CHECK(slow->messages == 0);
  ends.left->close("over");
  while (!slow->is_closed) let_the_loop_run(1);
  CHECK(slow->messages == 1);
}

TEST_CASE("socket link: it says when it is full, and once when there is room again") {
  two_ends ends;
  constexpr std::size_t size = 8 << 20, count = socket_link::queue_bound / size + 1;
  for (std::size_t i = 0; i < count; ++i) {
    CHECK_FALSE(ends.left->full());
    ends.left->send(block(size), priority::normal);
  }
  CHECK(ends.left->full());
  ends.right->open(ends.at_right);
  ends.at_left->wait_writable(1);
  CHECK_FALSE(ends.left->full());
  for (std::size_t i = 0; i < count; ++i) CHECK(ends.at_right->next().size() == size);
  ends.left->close("over");
  ends.at_left->wait_closed();
  CHECK(ends.at_left->times_writable() == 1);
}

TEST_CASE("socket link: it ends when more waits than twice its bound and the longest message") {
  two_ends ends;
  ends.left->send(block(max_message), priority::normal);  // no memory until it is read or written
  for (int i = 0; i < 2; ++i) ends.left->send(block(socket_link::queue_bound), priority::normal);
  CHECK(ends.left->full());
  ends.left->send(block(socket_link::queue_bound), priority::control);
  CHECK(ends.at_left->wait_closed() ==
        "more than twice the bound of 67108864 bytes waits to be sent");
  ends.right->open(ends.at_right);
  CHECK(ends.at_right->wait_closed() == "the other side has closed the link");
}

TEST_CASE("socket link: a message that is too long is refused where it is sent") {
  struct nobody final : block::keeper {
    void give_back(std::byte*, std::size_t) noexcept override {}
  };
  std::byte only{};
  two_ends ends;
  CHECK_THROWS_WITH(
      ends.left->send({&only, max_message + 1, std::make_shared<nobody>()}, priority::normal),
      "a message of 1073741825 bytes: expected at most 1073741824");
}

TEST_CASE("socket link: without room in the shared memory the socket carries large blocks") {
  two_ends ends;
  ends.right->open(ends.at_right);
  constexpr std::size_t size = 1 << 20;
  std::vector<block> kept;
  for (unsigned round = 0; round < 2; ++round) {
    for (unsigned i = 0; i < 8; ++i) {
      auto message = ends.left->allocate(size);
      fill(message, i);
      ends.left->send(std::move(message), priority::normal);
      kept.push_back(ends.at_right->next());
    }
    CHECK(ends.left->shared_bytes() == 3 * size);  // The fourth does not fit beside the table.
    for (unsigned i = 0; i < 8; ++i) {
      block expected(size);
      fill(expected, i);
      CHECK(equal(kept[i], expected));
    }
    kept.clear();
    CHECK(ends.left->shared_bytes() == 0);
  }
}

TEST_CASE("socket link: a shared block that is never sent is free again") {
  two_ends ends;
  {
    const auto unsent = ends.left->allocate(socket_link::shared_from);
  }
  CHECK(ends.left->shared_bytes() == 0);
}

TEST_CASE("shared memory: a block that was handed over has no owner on the sender's side") {
  const auto memory = std::make_shared<shared_memory>(small_half);
  const auto sender = std::make_shared<outbound_arena>(memory, true);
  const auto receiver = std::make_shared<inbound_arena>(memory, true);
  auto first = sender->allocate(100);
  const auto offset = sender->hand_over(*first);
  CHECK(first->data() == nullptr);
  CHECK(sender->used() == shared_memory::page);
  receiver->at(*offset, 100).reset();
  CHECK(sender->used() == 0);
  const auto second = sender->allocate(100);
  first.reset();
  CHECK(sender->used() == shared_memory::page);
}

TEST_CASE("shared memory: what a large message has left behind goes back to the system") {
  const auto memory = std::make_shared<shared_memory>(64 << 20);
  const auto file = memory->take_descriptor();
  const auto resident = [&] {
    struct stat about{};
    ::fstat(file.number(), &about);
    return static_cast<std::size_t>(about.st_blocks) * 512;
  };
  const auto arena = std::make_shared<outbound_arena>(memory, true);
  auto large = arena->allocate(40 << 20);
  std::memset(large->data(), 1, large->size());
  arena->trim();
  CHECK(resident() >= 40 << 20);
  large.reset();
  arena->trim();  // It was there since the last time.
  CHECK(resident() >= 40 << 20);
  auto small = arena->allocate(1 << 20);
  std::memset(small->data(), 2, small->size());
  for (int i = 0; i < 2; ++i) arena->trim();
  CHECK(resident() <= outbound_arena::kept);
  CHECK(arena->touched() == outbound_arena::kept);
  CHECK(std::ranges::count(small->bytes(), std::byte{2}) == 1 << 20);
}

TEST_CASE("socket link: who closes it is told so, and what is sent afterwards is dropped") {
  two_ends ends;
  ends.right->open(ends.at_right);
  ends.left->close("enough");
  ends.left->send(block_of("late"), priority::normal);
  CHECK(ends.at_left->wait_closed() == "enough");
  CHECK(ends.at_right->wait_closed() == "the other side has closed the link");
}

TEST_CASE("socket link: one that was closed before it was opened says so") {
  two_ends ends;
  ends.right->close("too late");
  ends.right->open(ends.at_right);
  CHECK(ends.at_right->wait_closed() == "too late");
}

TEST_CASE("socket link: what was sent before the end still comes") {
  two_ends ends;
  for (int i = 0; i < 10; ++i) ends.right->send(block_of(std::to_string(i)), priority::normal);
  ends.right->close("enough");
  for (int i = 0; i < 10; ++i) CHECK(ends.at_left->next_text() == std::to_string(i));
  ends.at_left->wait_closed();
}

// ---- a peer that is broken

/// A link whose other side writes what it likes.
struct broken_peer {
  broken_peer() {
    auto [a, b] = socket_pair();
    link = std::make_shared<socket_link>(std::move(a), std::make_shared<shared_memory>(small_half),
                                         true);
    link->open(heard);
    other = std::move(b);
  }
  ~broken_peer() { link->close("the test ends"); }

  void write(const void* bytes, std::size_t size) {
    [[maybe_unused]] const auto written = ::send(other.number(), bytes, size, MSG_NOSIGNAL);
  }

  const std::shared_ptr<hearer> heard = std::make_shared<hearer>();
  std::shared_ptr<socket_link> link;
  descriptor other;
};

TEST_CASE("socket link: a malformed frame closes it with the reason") {
  using kind = socket_header::kind;
  struct lie {
    socket_header header;
    const char* why;
  };
  const lie lies[] = {
      {{.mark = 0}, "the other side sent no frame (0)"},
      {{.line = 2}, "the other side sent a frame on no line (2)"},
      {{.what = static_cast<kind>(7)}, "the other side sent a frame of no kind (7)"},
      {{.total = max_message + 1}, "the other side sent a message that is too long (1073741825)"},
      {{.length = 9, .total = 8}, "the other side sent a piece that is too long (9)"},
      {{.length = socket_link::piece_max + 1, .total = max_message},
       "the other side sent a piece that is too long (65537)"},
      {{.total = 8}, "the other side sent an empty piece (0)"},
      {{.length = 8, .total = 8, .offset = 1}, "the other side sent a piece with an offset (1)"},
      {{.what = kind::shared, .total = 8, .offset = 0},
       "the other side sent a block where none can be (0)"},
      {{.what = kind::shared, .total = 8, .offset = 4097},
       "the other side sent a block where none can be (4097)"},
      {{.what = kind::shared, .total = 8, .offset = small_half},
       "the other side sent a block where none can be (4194304)"},
      {{.what = kind::shared, .total = 4097, .offset = small_half - 4096},
       "the other side sent a block where none can be (4190208)"},
      {{.what = kind::shared, .total = 0, .offset = 4096},
       "the other side sent a block where none can be (4096)"},
      {{.what = kind::shared, .length = 1, .total = 8, .offset = 4096},
       "the other side sent a block where none can be (4096)"}};
  for (const auto& lie : lies) {
    broken_peer peer;
    peer.write(&lie.header, sizeof lie.header);
    CHECK(peer.heard->wait_closed() == lie.why);
  }
}

TEST_CASE("socket link: a message that changes its length on the way closes it") {
  broken_peer peer;
  const socket_header first{.length = 4, .total = 8}, second{.length = 4, .total = 9};
  peer.write(&first, sizeof first);
  peer.write("1234", 4);
  peer.write(&second, sizeof second);
  CHECK(peer.heard->wait_closed() == "the other side sent a message of two lengths (9)");
}

TEST_CASE("socket link: random and damaged bytes end in a closed link and nothing else") {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string stream;
    const auto frames = random() % 6;
    for (std::size_t n = 0; n < frames; ++n) {
      socket_header header;
      header.line = random() % 2;
      if (random() % 2) {
        header.length = static_cast<std::uint32_t>(random() % 300);
        header.total = header.length + (random() % 3 ? 0 : random() % 300);
      } else {
        header.what = socket_header::kind::shared;
        header.total = random() % small_half;
        header.offset = random() % small_half / shared_memory::page * shared_memory::page;
      }
      stream.append(reinterpret_cast<const char*>(&header), sizeof header);
      stream.append(header.length, 'x');
    }
    for (auto damaged = random() % 4; damaged > 0 && !stream.empty(); --damaged) {
      stream[random() % stream.size()] = static_cast<char>(random());
    }
    broken_peer peer;
    peer.write(stream.data(), stream.size());
    peer.other = descriptor();
    const auto why = peer.heard->wait_closed();
    CHECK((why == "the other side has closed the link" || why.starts_with("the other side sent ")));
  }
}

TEST_CASE("socket link: a child that writes past its link is closed, and its parent goes on") {
  player babbles("babble"), echo("echo");
  CHECK(babbles.heard->wait_closed() == "the other side sent no frame (167)");
  echo.send("hello");
  CHECK(echo.heard->next_text() == "hello");
}

}  // namespace
}  // namespace troupe::detail
