#include "tests/runtime/simulation/rooms.hpp"

#include <set>

namespace troupe::simulation {

namespace {

using namespace std::chrono_literals;

/// Whose session is open. A guest's number is entered once it is, and taken out before it ends.
using guest_list = std::set<int>;

class registered {
 public:
  registered(guest_list& present, int guest) : present_(present), guest_(guest) {
    present_.insert(guest);
  }
  registered(const registered&) = delete;
  ~registered() { present_.erase(guest_); }

 private:
  guest_list& present_;
  const int guest_;
};

class room {
 public:
  room(ledger* book, const guest_list* present) : book_(*book), present_(*present), alive_(*book) {}

  void enter(int guest) {
    if (!present_.contains(guest)) return;  // Gone, but for this late message.
    book_.require(inside_ == guest || !present_.contains(inside_),
                  "exclusive sessions don't overlap",
                  "guests " + std::to_string(inside_) + " and " + std::to_string(guest));
    inside_ = guest;
  }
  task<> rest(int guest, duration pause) {
    counted_frame here(book_);
    enter(guest);
    co_await sleep_for(pause);
    enter(guest);
  }

 private:
  ledger& book_;
  const guest_list& present_;
  counted_frame alive_;
  int inside_ = 0;
};

task<> stay(service<room> rooms, guest_list& present, int guest, dice random, ledger& book) {
  counted_frame here(book);
  const auto mine = co_await rooms.session({.exclusive = true});
  const registered entry(present, guest);
  ++book.ends["exclusive session"];
  for (int i = 0; i < 4; ++i) {
    if (random.once_in(2)) {
      co_await mine.route<&room::enter>(guest);
    } else {
      co_await mine.route<&room::rest>(guest, duration(1ms) * random.below(8));
    }
  }
}

/// Some have a deadline, some give up: at the door, or inside.
task<> come_often(service<room> rooms, guest_list& present, int first, dice random, ledger& book) {
  counted_frame here(book);
  for (int guest = first; guest < first + 6; ++guest) {
    call_options how;
    if (random.once_in(3)) how.deadline = duration(1ms) * (1 + random.below(40));
    const auto patience = random.once_in(3) ? duration(1ms) * random.below(30) : duration(1h);
    try {
      co_await with_timeout(stay(rooms.with(how), present, guest, random.fork(), book), patience);
    } catch (const call_error& e) {
      book.require(e.kind() != error_kind::service_down, "only errors that can be", e.what());
    }
  }
}

/// A growth ends where a request for fewer rooms comes.
task<> scale_rooms(system& sys, service<room> rooms, std::size_t count, ledger& book) {
  counted_frame here(book);
  try {
    co_await sys.scale(rooms, count);
  } catch (const call_error& e) {
    book.require(e.kind() == error_kind::cancelled, "only errors that can be", e.what());
    ++book.ends["a growth ended"];
  }
}

}  // namespace

task<> share_rooms(system& sys, dice random, ledger& book) {
  counted_frame here(book);
  guest_list present;
  auto rooms = co_await sys.serve<room>({.name = "rooms",
                                         .replicas = 2,
                                         .max_restarts = 1'000'000,
                                         .backoff = 2ms,
                                         .backoff_limit = 20ms,
                                         .drain_timeout = 20ms},
                                        &book, &present);
  std::vector<task<>> guests;
  for (int i = 0; i < 5; ++i) {
    guests.push_back(come_often(rooms, present, 1 + i * 100, random.fork(), book));
  }
  for (const std::size_t n : {3u, 1u, 2u}) guests.push_back(scale_rooms(sys, rooms, n, book));
  co_await all(std::move(guests));
  sys.stop(rooms);
  co_await sleep_for(1s);  // The rooms look at the list until they have ended.
}

}  // namespace troupe::simulation
