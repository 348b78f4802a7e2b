// How much memory a node that has joined over TCP can make its controller take.

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "runtime/base/sanitizers.hpp"
#include "runtime/cluster/link_client.hpp"
#include "runtime/coroutine/sleep.hpp"
#include "runtime/remote/connection.hpp"
#include "runtime/remote/table_entry.hpp"
#include "tests/resident_memory.hpp"
#include "tests/runtime/remote/everywhere.hpp"
#include "tests/runtime/remote/raw_peer.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;
using detail::message_header;
using detail::message_kind;

constexpr std::size_t megabyte = std::size_t{1} << 20;
constexpr std::size_t calls_max = 16 * megabyte;
constexpr auto soon = 20s;

/// A service that a node is given. Its calls don't end.
struct hoard {
  task<int> keep(std::string what) {
    co_await sleep_for(1h);
    co_return static_cast<int>(what.size());
  }
};
/// A role on the node, by which the node is given the service.
struct borrower {
  int know(service<hoard> of) { return of ? 1 : 0; }
};

/// A node that does what its controller asks of it, and sends whatever a test wants.
class rude_node final : public detail::link_listener {
 public:
  explicit rude_node(const system& controller) {
    auto options = at(controller);
    options.link.queue_bytes_max = megabyte;
    client_.emplace(options,
                    detail::link_client_events{
                        .joined =
                            [this](const detail::hello&, std::shared_ptr<detail::link> way) {
                              {
                                const std::lock_guard held(mutex_);
                                if (way_) return way->close("it joins once");
                                way_ = way;
                              }
                              way->open({std::shared_ptr<void>(), this});  // No owner.
                            },
                        .failed = {}});
  }
  ~rude_node() override { client_.reset(); }

  /// Waits until it may call the service under number 9.
  void wait_until_given() {
    wait([this] { return imported_; });
  }
  std::string wait_for_end() {
    wait([this] { return ended_; });
    return why_;
  }

  /// Waits for room for at most `limit`. Returns whether there is some.
  bool has_room_within(std::chrono::milliseconds limit) {
    std::unique_lock held(mutex_);
    return changed_.wait_for(held, limit, [this] { return ended_ || !way_->full(); });
  }
  bool has_ended() {
    const std::lock_guard held(mutex_);
    return ended_;
  }

  template <class... T>
  void say(message_header header, const T&... body) {
    detail::block bytes((sizeof(header) + ... + wire_size(body)));
    wire_writer to(bytes.bytes().subspan(sizeof(header)));
    (to.write(body), ...);
    const std::lock_guard held(sending_);
    if (header.sequence == 0) header.sequence = ++sent_[header.control & 1];
    std::memcpy(bytes.data(), &header, sizeof(header));
    way_->send(std::move(bytes), priority::normal);
  }

  void received(detail::block bytes) override {
    const detail::message m(std::move(bytes));
    const auto& header = m.header;
    switch (header.kind) {
      case message_kind::ping:
        return say(
            {.kind = message_kind::pong, .control = 1, .replica = header.replica, .what = 1});
      case message_kind::make:
        return say({.kind = message_kind::serves, .replica = header.replica});
      case message_kind::call:
        say({.kind = message_kind::result, .replica = header.replica, .id = header.id}, 1);
        return say({.kind = message_kind::watch}, std::string("hoards"));
      case message_kind::table: {
        auto body = m.body();
        const auto told = body.read<std::pair<std::string, std::vector<detail::table_entry>>>();
        return say({.kind = message_kind::import, .replica = 9},
                   std::pair(told.first, told.second.at(0).serial));
      }
      case message_kind::serves:
        return change([this] { imported_ = true; });
      default:
        return;
    }
  }
  void writable() override {
    change([] {});
  }
  void closed(const std::string& why) override {
    change([&] {
      ended_ = true;
      why_ = why;
    });
  }

 private:
  template <class Change>
  void change(Change what) {
    {
      const std::lock_guard held(mutex_);
      what();
    }
    changed_.notify_all();
  }
  template <class Condition>
  void wait(Condition holds) {
    std::unique_lock held(mutex_);
    if (!changed_.wait_for(held, soon, holds)) throw std::runtime_error("nothing has come");
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<detail::link> way_;
  bool imported_ = false, ended_ = false;
  std::string why_;
  std::mutex sending_;
  std::uint64_t sent_[2] = {};
  std::optional<detail::link_client> client_;
};

/// Runs `attack` on a thread beside a controller that has lent the node its service. Returns how
/// far the memory of this process rises meanwhile.
std::size_t rise_while(const std::function<void(rude_node&)>& attack) {
  log_off();
  struct lending {
    static task<> run(system& sys, const std::atomic<bool>& is_over) {
      const auto hoards =
          co_await sys.serve<hoard>({.name = "hoards", .max_queued = 100'000, .max_ongoing = 4});
      const auto borrowers =
          co_await sys.serve<borrower>({.name = "borrowers", .placement = placement::node("*")});
      (void)co_await borrowers.try_route<&borrower::know>(hoards);
      while (!is_over) co_await sleep_for(5ms);
    }
  };
  system sys({.listen = "127.0.0.1:0", .peer_bytes_max = calls_max});
  rude_node node(sys);
  std::atomic<bool> is_over = false;
  std::size_t rise = 0;
  std::exception_ptr error;
  std::thread attacker([&] {
    try {
      node.wait_until_given();
      const memory_rise measured;
      attack(node);
      rise = measured.bytes();
    } catch (...) {
      error = std::current_exception();
    }
    is_over = true;
  });
  sys.run(lending::run(sys, is_over));
  attacker.join();
  if (error) std::rethrow_exception(error);
  return rise;
}

/// What a process with the address or thread sanitizer takes says nothing of this one.
#ifndef TROUPE_SANITIZED
constexpr std::size_t slack = 48 * megabyte;
#else
constexpr std::size_t slack = std::size_t{1} << 40;
#endif

TEST_CASE("joined peer: a node that calls without end takes what is declared and no more") {
  int refused_room = 0;
  const auto rise = rise_while([&](rude_node& node) {
    const std::string large(megabyte, 'x');
    for (std::uint64_t id = 1; id <= 512 && !node.has_ended(); ++id) {
      if (!node.has_room_within(soon)) ++refused_room;
      node.say(raw_peer::call_of<&hoard::keep>(9, id, large), std::tuple(large));
    }
    CHECK(node.has_room_within(soon));
    CHECK_FALSE(node.has_ended());
  });
  CHECK(refused_room == 0);
  // The calls as they were sent, and their arguments.
  CHECK(rise < 2 * calls_max + detail::connection::unhandled_max + slack);
}

TEST_CASE("joined peer: messages with a gap before them end the link and hold nothing") {
  const auto rise = rise_while([&](rude_node& node) {
    const std::string large(4 * megabyte, 'x');
    for (std::uint64_t i = 0; i < 100 && !node.has_ended(); ++i) {
      node.has_room_within(soon);
      node.say({.kind = message_kind::drop, .sequence = 1'000 + i}, large);
    }
    CHECK_THAT(node.wait_for_end(), has_text("over a link that keeps the order"));
  });
  CHECK(rise < slack);
}

TEST_CASE("joined peer: short messages without end take what is declared and no more") {
  const auto rise = rise_while([&](rude_node& node) {
    for (int i = 0; i < 200'000 && !node.has_ended(); ++i) {
      node.has_room_within(soon);
      node.say({.kind = message_kind::ping, .replica = 5});
    }
    CHECK(node.has_room_within(soon));
    CHECK_FALSE(node.has_ended());
  });
  CHECK(rise < detail::connection::unhandled_max + slack);
}

}  // namespace
}  // namespace troupe
